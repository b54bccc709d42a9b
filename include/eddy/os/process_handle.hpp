// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/base/spawn_step.hpp>
#include <eddy/loop/descriptor.hpp>
#include <eddy/os/exit_wait.hpp>
#include <eddy/os/process_options.hpp>

#include <array>
#include <memory>
#include <system_error>
#include <utility>

#include <sys/types.h>

namespace eddy {

class loop;
class child_source;
class reserved_spawn;

/// A process that a loop watches: a spawned child, or any process that was adopted.
///
/// A child is reaped by its loop when it ends, even if nobody waits for it. Destroying the last
/// handle of a running child kills the child if that was asked for. Otherwise the child lives on,
/// and its loop reaps it in the background. If the loop ends before the child, a later spawn or
/// adoption on any loop reaps it.
///
/// SIGCHLD is not used. No other code should wait for the process. If it does, the status still
/// arrives where the kernel keeps it (Linux 6.15 or later), without the resource usage.
///
/// Thread: the loop's, or any while the loop does not run. Must not outlive the loop.
class EDDY_API process_handle {
public:
    process_handle() noexcept = default;
    /// Spawns a process. Throws std::system_error, which names the failed step.
    process_handle(loop& home, const process_options& options);
    /// Spawns a process without exceptions. Returns when the program runs. If anything fails before
    /// that, `failed` says where, and no process is left. Everything that the watching needs is
    /// done before there is a process. The thread blocks until the kernel has executed the program,
    /// some 0.7 ms.
    static std::error_code spawn(loop& home, const process_options& options, process_handle& out,
                                 spawn_step* failed = nullptr) noexcept;
    /// Watches an existing process, child or not. An adopted child is reaped like a spawned one. If
    /// this loop watches the process already, `out` is one more handle. Errors:
    /// errc::process_has_owner if another loop watches it, `no_such_process` if it is gone.
    static std::error_code adopt(loop& home, pid_t pid, process_handle& out) noexcept;

    process_handle(process_handle&& other) noexcept = default;
    process_handle& operator=(process_handle&& other) noexcept {
        if (this != &other) {
            close();
            state_ = std::move(other.state_);
            pipes_ = std::move(other.pipes_);
        }
        return *this;
    }
    ~process_handle() { close(); }

    /// Returns another handle of the same process, without the pipes; empty if this is empty.
    process_handle share() const noexcept;

    /// Does what the destructor does. If this is the last handle, pending waits end with
    /// `operation_canceled`, or with the status if it is there already. For a process that this
    /// kills, either may be the case.
    void close() noexcept;

    explicit operator bool() const noexcept { return state_ != nullptr; }
    /// Returns -1 if the handle is empty. Use the pid for display; to signal, call send_signal().
    pid_t pid() const noexcept;
    /// Returns null if the handle is empty.
    loop* home() const noexcept;
    /// True if the process is a child of this process.
    bool is_child() const noexcept;
    /// The descriptor is readable when the process has ended. It is empty if the handle is.
    const descriptor& get_descriptor() const noexcept;
    /// Our end of standard fd 0, 1 or 2 if that was made a pipe, to be moved from; else empty.
    descriptor& stdio_pipe(int fd) noexcept;

    /// Sends a signal. Fails with `no_such_process` if the process was reaped, and never reaches
    /// another process that has got its pid.
    std::error_code send_signal(int signal) const noexcept;

    /// Starts `wait`. Several waits may be pending, and waits may be started after the end.
    void start(exit_wait& wait) noexcept;

    /// The state that senders pass to end_of().
    const std::shared_ptr<detail::process_state>& state() const noexcept { return state_; }

private:
    explicit process_handle(std::shared_ptr<detail::process_state> state) noexcept
        : state_(std::move(state)) {}

    std::shared_ptr<detail::process_state> state_;
    std::array<descriptor, 3> pipes_;

    friend class child_source;
    friend class reserved_spawn;
};

namespace detail {

/// Says how the process ended, and reaps it if nobody has. `operation_would_block` if it has not
/// ended. Thread: the loop's.
EDDY_API std::error_code end_of(process_state& process, exit_status& out) noexcept;

}  // namespace detail

}  // namespace eddy
