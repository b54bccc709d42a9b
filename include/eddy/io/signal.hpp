// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/detail/sender/source_wait_sender.hpp>
#include <eddy/os/signal_source.hpp>

#include <system_error>

namespace eddy::detail {

/// The wait of a source_wait_sender for one of several signals.
struct next_signal {
    using wait = signal_wait;
    using value = signal_info;

    loop& home() const noexcept { return source->home(); }
    std::error_code start(signal_wait& w) const noexcept { return source->wait(w, signals); }
    static const signal_info& result(const signal_wait& w) noexcept { return w.info(); }

    signal_source* source;
    signal_set signals;
};

}  // namespace eddy::detail

namespace eddy {
EDDY_EX_BEGIN

/// Waits for the next signal in `signals`. Value: a signal_info. Completes on the loop of `source`,
/// wherever it is started. Errors: errc::signal_not_attached if `source` does not have all of them,
/// `operation_canceled` if they are detached meanwhile. It is stopped if a stop was requested or
/// the loop ends. From the stop request on, this takes no signal: signals go to the next waiter or
/// stay in the kernel.
///
///     signal_info info = co_await wait_any_signal(signals, {SIGHUP, SIGUSR1});
///
/// Otherwise signal_source::wait() applies. Lifetime: `source` must live until completion.
inline detail::source_wait_sender<detail::next_signal> wait_any_signal(
    signal_source& source, signal_set signals,
    priority_level priority = default_priority) noexcept {
    return {{&source, signals}, priority};
}

/// Waits for the next signal `signum`; see wait_any_signal(). Throws std::system_error if there is
/// no such signal.
///
///     signal_info info = co_await timeout(wait_signal(signals, SIGHUP), 5s);
inline detail::source_wait_sender<detail::next_signal> wait_signal(
    signal_source& source, int signum, priority_level priority = default_priority) {
    return {{&source, signal_set{signum}}, priority};
}

EDDY_EX_END
}  // namespace eddy
