// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/os/signal_source.hpp>
#include <eddy/watch/detail/source_watch.hpp>

#include <optional>

namespace eddy {

/// Calls back with each signal of one number, or of several.
///
///     block_signals(SIGHUP);  // in main(), before threads start
///     signal_watch w(loop, SIGHUP, &on_hangup);
///
/// One record is read from the kernel right before each call. While something more urgent is ready,
/// or the watch is disarmed, signals therefore stay in the kernel, and none is lost. signal_source
/// says which signals the kernel merges, and which it queues. Several watches and waits for one
/// signal of a source take turns, one signal each, the most urgent first.
///
/// Reactions: `rearm` and `again` mean the same; `requeue` repeats the call with the same signal;
/// the others are as usual.
///
/// Thread: the loop's, except what watch marks "any".
class EDDY_API signal_watch : public detail::source_watch<signal_wait> {
public:
    using callback = reaction (*)(signal_watch&, const signal_info&) noexcept;
    using removed_callback = void (*)(signal_watch&) noexcept;

    /// Makes a source of its own, which is detached right before on_removed; signals that are
    /// pending then stay in the kernel. Throws std::system_error as signal_source does, and
    /// `invalid_argument` if the set is empty.
    signal_watch(loop& home, signal_set signals, callback on_signal,
                 removed_callback on_removed = nullptr, const watch_options& options = {});
    /// Uses a source that others use too. Throws std::system_error: errc::signal_not_attached, or
    /// `invalid_argument` if the set is empty. If the signals are detached later, the watch is
    /// disarmed and cannot be armed. Lifetime: `source` must live until on_removed.
    signal_watch(signal_source& source, signal_set signals, callback on_signal,
                 removed_callback on_removed = nullptr, const watch_options& options = {});
    ~signal_watch() override;

    signal_set signals() const noexcept { return signals_; }

private:
    std::error_code wait_for_next(signal_wait& w) noexcept final;
    reaction call() noexcept final;
    void removed() noexcept final;
    void begin(bool armed);

    std::optional<signal_source> own_;
    signal_source* source_;
    signal_set signals_;
    callback on_signal_;
    removed_callback on_removed_;
};

}  // namespace eddy
