// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/event.hpp>
#include <eddy/async/nursery.hpp>
#include <eddy/async/task.hpp>
#include <eddy/io/signal.hpp>
#include <eddy/os/block_signals.hpp>

#include <csignal>

namespace example {

/// Waits for ^C and SIGTERM: the first signal asks for an orderly end, the second for a quick one.
class two_signals {
public:
    explicit two_signals(eddy::loop& loop) : signals_(loop, blocked({SIGINT, SIGTERM})) {}

    /// Stops the nursery at the first signal, and then waits for the second.
    eddy::task<> stop(eddy::nursery& jobs) {
        const auto told = co_await eddy::wait_any_signal(signals_, signals_.signals());
        first_ = told.signum;
        jobs.stop();
        co_await eddy::wait_any_signal(signals_, signals_.signals());
        second_.set();
    }

    /// The first signal, or 0 if none came.
    int first() const noexcept { return first_; }
    /// A sender that completes when the second signal has come.
    auto second() noexcept { return second_.wait(); }

private:
    static eddy::signal_set blocked(eddy::signal_set signals) {
        eddy::block_signals(signals);
        return signals;
    }

    eddy::signal_source signals_;
    eddy::event second_;
    int first_ = 0;
};

}  // namespace example
