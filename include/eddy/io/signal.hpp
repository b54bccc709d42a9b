// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/detail/sender/source_wait_sender.hpp>
#include <eddy/os/signal_source.hpp>

#include <system_error>

namespace eddy::detail {

/// What a sender of a signal waits for.
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

/// The next signal of one of these numbers, as a signal_info. Completes on the loop of `source`,
/// wherever it is started; errc::signal_not_attached if `source` does not have all of them,
/// `operation_canceled` if they are detached meanwhile; stopped if that was asked for or the loop
/// ends. Whoever was asked to stop takes no signal any more: it goes to the next who waits, or
/// stays in the kernel.
///
///     signal_info info = co_await wait_any_signal(signals, {SIGHUP, SIGUSR1});
///
/// The rest as for signal_source::wait(). Lifetime: `source` must live until it has completed.
inline detail::source_wait_sender<detail::next_signal> wait_any_signal(
    signal_source& source, signal_set signals,
    priority_level priority = default_priority) noexcept {
    return {{&source, signals}, priority};
}

/// The next signal of this number. Throws std::system_error: there is none of this number.
///
///     signal_info info = co_await timeout(wait_signal(signals, SIGHUP), 5s);
inline detail::source_wait_sender<detail::next_signal> wait_signal(
    signal_source& source, int signum, priority_level priority = default_priority) {
    return {{&source, signal_set{signum}}, priority};
}

EDDY_EX_END
}  // namespace eddy
