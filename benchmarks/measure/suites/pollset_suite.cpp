// SPDX-License-Identifier: Apache-2.0

// Lists what pollsets are asked.
#include "measure/suites/pollset_suite.hpp"

#include <array>

namespace bench {

namespace {

struct shape {
    unsigned threads;
    unsigned sets;
    unsigned fds;

    std::string name() const {
        return std::to_string(threads) + "x" + std::to_string(sets) + "x" + std::to_string(fds);
    }
    std::vector<std::string> arguments(const std::string& events) const {
        return {"matrix", std::to_string(threads), std::to_string(sets), std::to_string(fds),
                events};
    }
};

constexpr std::array<shape, 6> matrix{
    {{1, 1, 16}, {2, 1, 16}, {4, 1, 16}, {2, 2, 16}, {4, 4, 16}, {4, 1, 256}}};

}  // namespace

program_suite pollset_suite() {
    const std::vector<std::string> cpu{"cpu_ns_per_event"};
    const std::vector<std::string> latency{"p50_us", "p99_us", "p999_us"};
    const std::vector<std::string> all{"events_per_ms",
                                       "cpu_ns_per_event",
                                       "called_per_event",
                                       "waits_per_event",
                                       "eventfd_per_event",
                                       "switches_per_event",
                                       "p50_us",
                                       "p99_us",
                                       "p999_us"};
    program_suite s{
        .name = "pollset",
        .questions =
            {{"1_event", {"single", "16", "1", "200000"}, {"single", "16", "1", "10000"}, cpu},
             {"8_events", {"single", "16", "8", "400000"}, {"single", "16", "8", "20000"}, cpu}},
        .rounds = 5,
        .quick_rounds = 1,
    };
    for (const shape& m : matrix) {
        s.questions.push_back({m.name(), m.arguments("200000"), m.arguments("5000"), all});
    }
    for (const std::string threads : {"2", "4"}) {
        s.questions.push_back({"blocked_" + threads,
                               {"blocked", threads, "16", "800"},
                               {"blocked", threads, "16", "60"},
                               latency});
    }
    for (const std::string threads : {"2", "8"}) {
        s.questions.push_back({"herd_" + threads,
                               {"herd", threads, "16", "2000"},
                               {"herd", threads, "16", "100"},
                               all});
    }
    return s;
}

}  // namespace bench
