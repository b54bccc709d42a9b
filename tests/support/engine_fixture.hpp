// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/fds.hpp"
#include "support/patience.hpp"
#include "support/recorder.hpp"

#include <eddy/base/version.hpp>
#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/lease.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/loop_group.hpp>
#include <eddy/loop/requests.hpp>
#include <eddy/os/block_signals.hpp>
#include <eddy/os/child_source.hpp>
#include <eddy/os/process_handle.hpp>
#include <eddy/os/process_reservation.hpp>
#include <eddy/os/signal_source.hpp>
#include <eddy/os/stop_on_signals.hpp>
#include <eddy/watch/watches.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include <gtest/gtest.h>

namespace eddy::test {

using namespace std::chrono_literals;

/// A test that runs on each engine, with a loop of that engine. It fails if descriptors leak.
class EngineTest : public ::testing::TestWithParam<engine_kind> {
protected:
    void SetUp() override;
    void TearDown() override;

    /// The loop of the test; made on first use.
    eddy::loop& loop();
    /// Before the loop is used. `engine` is overwritten.
    void make_loop(loop_options options);
    /// Destroys it; loop() makes another.
    void end_loop() { loop_.reset(); }

    bool on(engine_kind kind) const { return GetParam() == kind; }

    descriptor attach(unique_fd fd, descriptor_options options = {}) {
        return descriptor(loop(), std::move(fd), options);
    }
    void start(recorder& r, const io_request& request, time_point deadline = never) {
        r.start(loop(), request, deadline);
    }

    /// Runs the loop until the condition holds. False, and a failure, if that takes too long.
    bool until(const std::function<bool()>& condition, duration limit = patience);
    /// The same for a condition that does something itself, which makes the loop go on.
    bool until_driven(const std::function<bool()>& condition, duration limit = patience);
    /// Runs the loop until `r` has ended.
    bool ends(recorder& r, duration limit = patience) {
        return until([&] { return r.ended(); }, limit);
    }
    /// Runs the loop for that time, for what must not happen; returns how many turns it took.
    std::uint64_t turns_in(duration time);
    /// Turns that do not wait, for as long as each has something to do.
    void settle();

private:
    std::size_t fds_before_ = 0;
    std::unique_ptr<eddy::loop> loop_;
};

inline std::string engine_name(const ::testing::TestParamInfo<engine_kind>& info) {
    return to_string(info.param);
}

#define EDDY_ON_EVERY_ENGINE(suite)                                                  \
    INSTANTIATE_TEST_SUITE_P(                                                        \
        Engine, suite,                                                               \
        ::testing::Values(::eddy::engine_kind::epoll, ::eddy::engine_kind::io_uring, \
                          ::eddy::engine_kind::poll),                                \
        ::eddy::test::engine_name)

#define EDDY_ON_READINESS_ENGINES(suite)                                                         \
    INSTANTIATE_TEST_SUITE_P(                                                                    \
        Engine, suite, ::testing::Values(::eddy::engine_kind::epoll, ::eddy::engine_kind::poll), \
        ::eddy::test::engine_name)

}  // namespace eddy::test
