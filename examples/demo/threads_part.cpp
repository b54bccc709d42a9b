// SPDX-License-Identifier: Apache-2.0

// Shows work that two threads post to each other.
#include "demo/parts.hpp"

#include <eddy/loop/loop_group.hpp>

#include <array>
#include <cstdio>

namespace demo {

namespace {

/// A ball that two loops pass to each other.
struct ball {
    eddy::loop_group& group;
    std::size_t left;
    std::size_t at = 0;
    eddy::entry entry{};

    void pass() {
        at = 1 - at;
        group.at(at).post<ball, &ball::entry, &ball::caught>(*this);
    }
    void caught() noexcept {
        if (left != 0) {
            --left;
            pass();
        } else {
            group.stop();
        }
    }
};

}  // namespace

void show_threads(std::size_t posts) {
    eddy::loop_group group({.size = 2});
    ball b{group, posts};
    const auto begin = eddy::clock::now();
    b.pass();
    group.start();
    group.join();
    const std::chrono::duration<double> time = eddy::clock::now() - begin;
    std::printf("  %zu hand-overs between two threads: %.1f us each, %llu wake-ups\n", posts,
                time.count() * 1e6 / static_cast<double>(posts),
                static_cast<unsigned long long>(group.at(0).counters().wakes +
                                                group.at(1).counters().wakes));
}

}  // namespace demo
