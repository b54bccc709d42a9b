// SPDX-License-Identifier: Apache-2.0

// Shows how precisely timers fire.
#include "demo/parts.hpp"

#include <eddy/loop/loop.hpp>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <random>

namespace demo {

namespace {

struct alarm_clock {
    alarm_clock(eddy::loop& loop, eddy::time_point when) : due(when), timer(loop, &on_run) {
        loop.post_at(when, timer);
    }
    static void on_run(eddy::timer& t) noexcept {
        auto& self = eddy::detail::owner_of<&alarm_clock::timer>(t);
        self.lateness = eddy::clock::now() - self.due;
    }

    eddy::time_point due;
    eddy::duration lateness{};
    eddy::timer timer;
};

double microseconds(eddy::duration d) {
    return std::chrono::duration<double, std::micro>(d).count();
}

}  // namespace

void show_timers(std::size_t count) {
    eddy::loop loop({.name = "timers"});
    std::mt19937 random(1);
    std::uniform_int_distribution<int> delay_us(0, 1'000'000);
    std::deque<alarm_clock> alarms;
    const eddy::time_point begin = eddy::clock::now();
    for (std::size_t i = 0; i != count; ++i) {
        alarms.emplace_back(loop, begin + std::chrono::microseconds(delay_us(random)));
    }
    loop.run(eddy::run_mode::empty);
    const auto [earliest, latest] =
        std::minmax_element(alarms.begin(), alarms.end(),
                            [](const auto& a, const auto& b) { return a.lateness < b.lateness; });
    std::printf(
        "  %zu timers within a second: the earliest fired %.1f us after its time, the "
        "latest %.1f us\n",
        alarms.size(), microseconds(earliest->lateness), microseconds(latest->lateness));
}

}  // namespace demo
