// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/os/exit_status.hpp>

#include <memory>
#include <system_error>

namespace eddy {

class process_handle;

namespace detail {
class process_state;
}

/// A wait for the end of a process: an operation that its user owns.
///
///     exit_wait done(&on_exit);
///     child.start(done);
///
/// Completes exactly once for each start, on the loop's thread, from inside start() or later. The
/// callback may restart or destroy the wait.
///
/// Lifetime: from start() until the callback was called, or until abandon().
class EDDY_API exit_wait {
public:
    using callback = void (*)(exit_wait&) noexcept;

    explicit exit_wait(callback on_exit = nullptr) noexcept;
    ~exit_wait();
    exit_wait(const exit_wait&) = delete;
    exit_wait& operator=(const exit_wait&) = delete;

    void set_callback(callback on_exit) noexcept { callback_ = on_exit; }
    void set_priority(priority_level priority) noexcept { io_.set_priority(priority); }
    /// See io_operation::set_background().
    void set_background(bool background) noexcept { io_.set_background(background); }

    bool pending() const noexcept { return io_.pending(); }
    /// Success: status() is valid. `operation_canceled`: cancelled, or the handle or the loop
    /// ended. `no_child_process`: other code took the status, and the kernel does not keep it.
    std::error_code error() const noexcept { return error_; }
    const exit_status& status() const noexcept { return status_; }

    /// Completes the wait with `operation_canceled`, or with the status if it is there already.
    /// Other waits still get the status. Thread: the loop's.
    void cancel() noexcept;
    /// Takes the wait back without calling its callback; it may be destroyed. Thread: the loop's.
    void abandon() noexcept;

private:
    static void on_ready(io_operation& op) noexcept;
    void begin() noexcept;
    void complete() noexcept;

    io_operation io_;
    callback callback_;
    std::shared_ptr<detail::process_state> process_;
    std::error_code error_;
    exit_status status_;

    friend class process_handle;
};

}  // namespace eddy
