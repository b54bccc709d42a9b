// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/completions.hpp>
#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/io_sender.hpp>
#include <eddy/io/stream.hpp>
#include <eddy/loop/requests.hpp>
#include <eddy/os/exit_status.hpp>
#include <eddy/os/process_handle.hpp>
#include <eddy/os/process_options.hpp>

#include <memory>
#include <system_error>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

/// The Convert of a wait for the end of a process.
class as_exit_status {
public:
    using signature = ex::set_value_t(exit_status);

    explicit as_exit_status(std::shared_ptr<process_state> process) noexcept
        : process_(std::move(process)) {}

    /// Asks the process for its end, and waits once more while other code is still reaping it.
    bool again(io_result, io_request&) noexcept {
        error_ = end_of(*process_, status_);
        return error_ == std::errc::operation_would_block;
    }
    template <class Receiver>
    void operator()(io_result, Receiver&& receiver) noexcept {
        process_.reset();
        if (error_) {
            ex::set_error(std::forward<Receiver>(receiver), error_);
        } else {
            ex::set_value(std::forward<Receiver>(receiver), status_);
        }
    }

private:
    std::shared_ptr<process_state> process_;
    exit_status status_;
    std::error_code error_;
};

EDDY_EX_END

}  // namespace eddy::detail

namespace eddy {

EDDY_EX_BEGIN

/// A process that is watched with senders: a child, or a process that was adopted.
///
///     process sort(loop, {.program = "sort", .in = stdio::pipe(), .out = stdio::pipe()});
///     co_await sort.stdin_pipe().write(bytes("b\na\n"));
///     co_await sort.stdin_pipe().close();
///     std::size_t n = co_await sort.stdout_pipe().read(bytes(buffer));
///     exit_status status = co_await sort.wait();
///
/// See process_handle for children that nobody waits for or whose handle is destroyed. Thread: the
/// loop's, or any while the loop does not run. Must not outlive the loop.
class process {
public:
    process() noexcept = default;
    /// Spawns a process. Throws std::system_error; see process_handle::spawn().
    process(loop& home, const process_options& options) : process(process_handle(home, options)) {}
    explicit process(process_handle&& handle) noexcept
        : handle_(std::move(handle)),
          pipes_{stream(std::move(handle_.stdio_pipe(0))), stream(std::move(handle_.stdio_pipe(1))),
                 stream(std::move(handle_.stdio_pipe(2)))} {}

    /// Watches an existing process; see process_handle::adopt(). Throws std::system_error.
    static process adopt(loop& home, pid_t pid) {
        process_handle handle;
        if (auto error = process_handle::adopt(home, pid, handle)) {
            throw std::system_error(error, "cannot watch a process");
        }
        return process(std::move(handle));
    }

    explicit operator bool() const noexcept { return static_cast<bool>(handle_); }
    /// Returns -1 if this is empty.
    pid_t pid() const noexcept { return handle_.pid(); }
    bool is_child() const noexcept { return handle_.is_child(); }
    process_handle& handle() noexcept { return handle_; }

    /// Waits for the end. Value: an exit_status. Any number of waits may be pending, and they may
    /// start after the end; stopping one does not affect the others. Errors: `no_child_process` if
    /// other code took the status and the kernel does not keep it, `operation_canceled` if the last
    /// handle is closed, `bad_file_descriptor` if this is empty.
    auto wait() const noexcept {
        return io_sender<detail::as_exit_status>(
            handle_.home(), eddy::wait(handle_.get_descriptor(), interest::readable),
            detail::as_exit_status(handle_.state()));
    }
    /// Sends a signal. `no_such_process` if the process was reaped; never signals another process.
    std::error_code kill(int signal) const noexcept { return handle_.send_signal(signal); }

    /// The parent's ends of the standard fds that were made pipes; empty for the others.
    stream& stdin_pipe() noexcept { return pipes_[0]; }
    stream& stdout_pipe() noexcept { return pipes_[1]; }
    stream& stderr_pipe() noexcept { return pipes_[2]; }

private:
    process_handle handle_;
    stream pipes_[3];
};

/// Spawns a process. Throws std::system_error.
inline process spawn_process(loop& home, const process_options& options) { return {home, options}; }

EDDY_EX_END

}  // namespace eddy
