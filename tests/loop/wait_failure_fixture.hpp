// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/call.hpp"
#include "loop/loop_fixture.hpp"
#include "support/heard_reports.hpp"
#include "support/refused_waits.hpp"

#include <string>
#include <system_error>

namespace eddy::test {

/// A test of a loop that the kernel refuses to wait for.
class WaitFailureTest : public EngineTest {
protected:
    static constexpr unsigned for_good = 1'000'000;

    static void refuse_waits(int error, unsigned times = for_good) {
        test::refuse_waits(GetParam(), error, times);
    }
    const char* call() const {
        return on(engine_kind::epoll)  ? "epoll_wait"
               : on(engine_kind::poll) ? "ppoll"
                                       : "io_uring_enter";
    }
    /// The error with which run() ends.
    std::system_error error_of_run() {
        try {
            loop().run();
        } catch (const std::system_error& error) {
            return error;
        }
        ADD_FAILURE() << "run() has not thrown";
        return std::system_error(std::error_code());
    }
    /// Runs the loop while the kernel refuses to wait, and then calls `body` on it.
    template <class Body>
    void while_waits_fail(int error, Body body) {
        loop().post([&] {
            refuse_waits(error);
            body();
            kernel::fail_nothing();
            loop().stop();
        });
        loop().run();
    }

    heard_reports heard;
};

}  // namespace eddy::test
