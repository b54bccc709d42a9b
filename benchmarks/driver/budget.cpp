#include "driver/budget.hpp"

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

/// All together: under three minutes, and under thirty, with what is not here: memory, starting the
/// programs, and the last round of each part.
constexpr std::array<part_times, 16> times{{{"echo", 28, 520},
                                            {"echo_two_core", 1, 100},
                                            {"echo_counts", 28, 90},
                                            {"post", 9, 90},
                                            {"timer", 10, 150},
                                            {"churn", 8, 80},
                                            {"pollset", 12, 150},
                                            {"pollset_counts", 8, 40},
                                            {"spawn", 4, 40},
                                            {"signal", 3, 20},
                                            {"share", 3, 10},
                                            {"await", 2, 10},
                                            {"grpc", 10, 120},
                                            {"compile", 9, 110},
                                            {"growth", 7, 60},
                                            {"growth_timers", 7, 90}}};

constexpr std::int64_t ns_per_s = 1'000'000'000;

}  // namespace

budget::budget(std::string_view part, std::size_t cases, bool quick)
    : begin_ns_(now_ns()), cases_(std::max<std::size_t>(cases, 1)), rounds_min_(quick ? 1 : 3) {
    const auto found = std::find_if(times.begin(), times.end(),
                                    [&](const part_times& t) { return t.part == part; });
    if (found == times.end()) throw std::logic_error("no time is set for " + std::string(part));
    length_ns_ = (quick ? found->quick_s : found->full_s) * ns_per_s;
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
