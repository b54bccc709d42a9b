// SPDX-License-Identifier: Apache-2.0

// Shares the time of a run among its parts.
#include "measure/budget.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "common/clock.hpp"

namespace bench {

namespace {

struct part_times {
    std::string_view part;
    int quick_s;
    int full_s;
};

/// All together: 152 s and 1,560 s, so that starting the programs and the last round of each part
/// fit into three minutes, and into thirty.
constexpr std::array<part_times, 19> times{{{"echo", 24, 400},
                                            {"echo_two_core", 1, 60},
                                            {"echo_counts", 20, 90},
                                            {"spin", 4, 40},
                                            {"post", 9, 90},
                                            {"timer", 10, 120},
                                            {"churn", 8, 80},
                                            {"pollset", 12, 120},
                                            {"pollset_counts", 8, 40},
                                            {"pollset_calls", 3, 40},
                                            {"spawn", 4, 40},
                                            {"signal", 3, 20},
                                            {"share", 3, 10},
                                            {"memory", 8, 40},
                                            {"await", 2, 10},
                                            {"grpc", 10, 100},
                                            {"compile", 9, 110},
                                            {"growth", 7, 60},
                                            {"growth_timers", 7, 90}}};

constexpr std::int64_t ns_per_s = 1'000'000'000;

/// When no part gets more than one round any more.
constexpr std::int64_t whole_quick_s = 150;
constexpr std::int64_t whole_full_s = 27 * 60;

}  // namespace

budget::budget(std::string_view part, std::size_t cases, bool quick, std::int64_t used_ns)
    : begin_ns_(now_ns()), cases_(std::max<std::size_t>(cases, 1)) {
    const auto found = std::find_if(times.begin(), times.end(),
                                    [&](const part_times& t) { return t.part == part; });
    if (found == times.end()) throw std::logic_error("no time is set for " + std::string(part));
    const std::int64_t wanted_ns = (quick ? found->quick_s : found->full_s) * ns_per_s;
    length_ns_ = std::min(wanted_ns, (quick ? whole_quick_s : whole_full_s) * ns_per_s - used_ns);
    rounds_min_ = quick || length_ns_ < wanted_ns ? 1 : 3;
}

bool budget::over(unsigned rounds_done) const noexcept {
    const auto share = static_cast<double>(begun_) / static_cast<double>(cases_);
    const auto part_ns = static_cast<std::int64_t>(static_cast<double>(length_ns_) * share);
    return rounds_done >= rounds_min_ && now_ns() - begin_ns_ >= part_ns;
}

void budget::need_some() const {
    if (now_ns() - begin_ns_ >= length_ns_) throw std::runtime_error("no time was left for it");
}

}  // namespace bench
