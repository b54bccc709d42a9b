// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/loop/entry.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/loop_group.hpp>
#include <eddy/os/signal_source.hpp>

#include <cstddef>
#include <memory>

namespace eddy {

/// Ends a program gracefully when a signal comes:
///
///     loop loop;
///     stop_on_signals stopper(loop);      // in main(), before threads start
///     ...
///     loop.run(run_mode::drained);
///
/// Blocks the signals in the calling thread, as block_signals() does. The first one that comes
/// stops the loop or all loops of the group, or requests a stop. From then on the signals have
/// their default disposition, and are not blocked in the threads of these loops: a second one ends
/// the process at once, even if a callback hangs. (A thread that has ended has no mask: when all
/// loops of a group have ended, and only main() is left, the second one stays pending.)
///
/// Ignored signals stay ignored: the starter of the process, such as nohup, wants that. This does
/// not keep run_mode::empty going. It works once; for another run make another one.
///
/// Thread: as a signal_source of the loop; destroyed while no loop of the group runs. Must not
/// outlive the object that it stops.
class EDDY_API stop_on_signals {
public:
    /// Stops a loop. Throws std::system_error as signal_source does.
    explicit stop_on_signals(loop& home, signal_set signals = {SIGINT, SIGTERM});
    /// Stops a group that is not started yet; waits on its first loop. Throws std::system_error.
    explicit stop_on_signals(loop_group& group, signal_set signals = {SIGINT, SIGTERM});
    /// Calls `source.request_stop()` on the loop's thread. Throws std::system_error.
    template <class StopSource>
        requires requires(StopSource& source) { source.request_stop(); }
    stop_on_signals(loop& home, StopSource& source, signal_set signals = {SIGINT, SIGTERM})
        : stop_on_signals([](void* s) noexcept { static_cast<StopSource*>(s)->request_stop(); },
                          &source, home, signals) {}
    ~stop_on_signals();
    stop_on_signals(const stop_on_signals&) = delete;
    stop_on_signals& operator=(const stop_on_signals&) = delete;

    /// The signal that came; its number is 0 until then. Thread: the loop's, or any after its run.
    const signal_info& info() const noexcept { return wait_.info(); }

private:
    using action = void (*)(void*) noexcept;
    /// Lets the second signal through on the thread of another loop of the group.
    struct release;

    stop_on_signals(action stop, void* what, loop& home, signal_set signals);

    static void on_signal(signal_wait& w) noexcept;
    void let_next_through() noexcept;

    action stop_;
    void* what_;
    signal_set signals_;
    signal_source source_;
    signal_wait wait_;
    loop_group* group_ = nullptr;
    std::unique_ptr<release[]> releases_;  ///< one for each loop of the group except the first
};

}  // namespace eddy
