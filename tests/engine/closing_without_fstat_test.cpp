// SPDX-License-Identifier: Apache-2.0
// The engine asks fstat() whether a number is still the descriptor that was attached.
#include "support/engine_fixture.hpp"
#include "support/in_child.hpp"
#include "support/seccomp.hpp"

#include <cerrno>

namespace eddy::test::closing_without_fstat_test {
namespace {

constexpr int no_filter = 76;

using ClosingWithoutFstat = EngineTest;
EDDY_ON_EVERY_ENGINE(ClosingWithoutFstat);

TEST_P(ClosingWithoutFstat, ClosesTheDescriptorAnyway) {
    const int ended = in_child([] {
        eddy::loop l({.engine = GetParam()});
        auto [first, second] = tcp_pair();
        const int number = first.get();
        descriptor end(l, std::move(first));
        recorder reading;
        std::byte buffer[8];
        reading.start(l, recv(end, buffer));
        l.poll();
        if (!deny_calls({SYS_fstat, SYS_newfstatat}, ENOMEM)) {
            return no_filter;
        }
        end.close();
        l.run(run_mode::empty, {.until = clock::now() + 5s});
        if (is_open(number)) {
            return 1;
        }
        return reading.error() == std::errc::operation_canceled ? 0 : 2;
    });
    if (ended == no_filter) {
        GTEST_SKIP() << "seccomp is not permitted here";
    }
    EXPECT_EQ(ended, 0);
}

TEST_P(ClosingWithoutFstat, GivesTheDescriptorBackAnyway) {
    const int ended = in_child([] {
        eddy::loop l({.engine = GetParam()});
        auto [first, second] = tcp_pair();
        const int number = first.get();
        descriptor end(l, std::move(first));
        if (!deny_calls({SYS_fstat, SYS_newfstatat}, ENOMEM)) {
            return no_filter;
        }
        unique_fd back;
        return !end.release(back) && back.get() == number ? 0 : 1;
    });
    if (ended == no_filter) {
        GTEST_SKIP() << "seccomp is not permitted here";
    }
    EXPECT_EQ(ended, 0);
}

}  // namespace
}  // namespace eddy::test::closing_without_fstat_test
