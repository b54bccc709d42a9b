// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/engine_fixture.hpp"
#include "support/signals.hpp"

#include <eddy/os/signal_source.hpp>

#include <functional>
#include <utility>
#include <vector>

namespace eddy::test {

/// A wait that writes down how it completed.
class signal_recorder {
public:
    explicit signal_recorder(std::function<void(signal_recorder&)> then = nullptr)
        : then_(std::move(then)) {}

    /// What it got.
    const std::vector<signal_info>& signals() const { return signals_; }
    const std::vector<std::error_code>& errors() const { return errors_; }
    std::size_t completions() const { return signals_.size() + errors_.size(); }
    bool ended() const { return completions() != 0; }

    signal_wait wait{
        [](signal_wait& w) noexcept { detail::owner_of<&signal_recorder::wait>(w).completed(); }};

private:
    void completed() {
        if (wait.error()) {
            errors_.push_back(wait.error());
        } else {
            signals_.push_back(wait.info());
        }
        if (then_) {
            then_(*this);
        }
    }

    std::function<void(signal_recorder&)> then_;
    std::vector<signal_info> signals_;
    std::vector<std::error_code> errors_;
};

/// On each engine, with some signals blocked.
class SignalTest : public EngineTest {
protected:
    using EngineTest::ends;
    bool ends(signal_recorder& r) {
        return until([&] { return r.ended(); });
    }
    /// Waits on `source`, which must accept it.
    template <class Signals>
    static void wait(signal_source& source, signal_recorder& r, Signals what) {
        ASSERT_EQ(source.wait(r.wait, what), std::error_code());
    }

    static inline const int rt = SIGRTMIN + 3;
    blocked_signals blocked_{{SIGUSR1, SIGUSR2, SIGHUP, rt}};
};

inline bool ended_canceled(const signal_recorder& r) {
    return r.completions() == 1 && r.errors().size() == 1 &&
           r.errors()[0] == std::errc::operation_canceled;
}

}  // namespace eddy::test
