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

/// A process that a loop watches: a child that was spawned, or any process that was adopted.
///
/// A child is reaped by its loop when it ends, whether somebody waits for that or not. When the
/// last handle of one that still runs is destroyed, it is killed if that was asked for; if not it
/// lives on, and its loop reaps it in the background. When the loop ends before the child does, a
/// later spawn or adoption on any loop reaps it.
///
/// SIGCHLD is not used. No other code should wait for the process; if it does, the status still
/// arrives where the kernel keeps it (Linux 6.15 on), without the resource usage.
///
/// Thread: the loop's, or any while the loop does not run. Must not outlive the loop.
class EDDY_API process_handle {
public:
    process_handle() noexcept = default;
    /// Spawns. Throws std::system_error, which names the step.
    process_handle(loop& home, const process_options& options);
    /// The same without exceptions. Returns when the program runs; what goes wrong until then is an
    /// error, `failed` says where, and no process is left. Whatever could prevent the watching is
    /// done before there is a process. It blocks the thread for as long as the kernel takes to
    /// execute, some 0.7 ms.
    static std::error_code spawn(loop& home, const process_options& options, process_handle& out,
                                 spawn_step* failed = nullptr) noexcept;
    /// Watches a process that exists, child or not. A child is reaped from now on as one that was
    /// spawned. A second handle for a process that this loop watches is as good as the first;
    /// errc::process_has_owner: another loop does. `no_such_process`: it is gone.
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

    /// Another handle of the same process, without the pipes. Empty if this is.
    process_handle share() const noexcept;

    /// What the destructor does. If this is the last handle, waits that are pending end with
    /// `operation_canceled`, or with the status if that is there already: of a process that this
    /// kills, either may be the case.
    void close() noexcept;

    explicit operator bool() const noexcept { return state_ != nullptr; }
    /// -1 if it is empty. Use it to show it: for signals there is send_signal().
    pid_t pid() const noexcept;
    /// Null if it is empty.
    loop* home() const noexcept;
    /// Whether it is a child of this process.
    bool is_child() const noexcept;
    /// Readable when the process has ended. Empty if the handle is.
    const descriptor& get_descriptor() const noexcept;
    /// Our end of a standard fd, 0 to 2, that was made a pipe; to be moved from. Else empty.
    descriptor& stdio_pipe(int fd) noexcept;

    /// Never reaches another process that has got the same pid: `no_such_process` when this one was
    /// reaped.
    std::error_code send_signal(int signal) const noexcept;

    /// Several waits may be pending, and be started after the end too.
    void start(exit_wait& wait) noexcept;

    /// For senders: what end_of() takes.
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

/// How the process ended, reaping it if nobody has. `operation_would_block`: it has not. Thread:
/// the loop's.
EDDY_API std::error_code end_of(process_state& process, exit_status& out) noexcept;

}  // namespace detail

}  // namespace eddy
