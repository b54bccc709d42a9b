// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/loop.hpp>

#include <cstddef>

namespace eddy {

/// A loop inside another event loop, which watches one fd and calls one function:
///
///     embedding inner(loop);
///     host.watch_readable(inner.handle(), [&] { inner.run_ready(); });
///
/// The fd becomes readable for everything, also for timers: a timerfd of this object is part of it.
///
/// Watch it level-triggered, and do nothing else with it. Whatever is started, posted, set or
/// cancelled while the loop does not run makes it readable, by whom ever it is done. It may be
/// readable for nothing. For another eddy loop as the host, there is loop_watch.
///
/// The loop may be run in any other way in between. stop() ends the run_ready() that comes next,
/// and nothing else.
///
/// Thread: that of the loop, which is the host's. Lifetime: it ends before the loop, and is not
/// ended from inside run_ready(). One at a time. In the child after fork(), and after
/// after_fork_in_child(), it can only be destroyed; then make another.
class EDDY_API embedding {
public:
    /// Throws std::system_error: what loop::native_handle() throws (the engine poll is
    /// `not_supported`), and if there can be no timerfd.
    explicit embedding(loop& inner);
    ~embedding();
    embedding(const embedding&) = delete;
    embedding& operator=(const embedding&) = delete;

    /// Stays open as long as the loop. Watch it no longer than this object lives.
    int handle() const noexcept { return handle_; }
    /// Call it when the fd is readable. Handles what is ready, at most `batch_max`, and says how
    /// many completions that was; what is left makes the fd readable again. Never waits. Throws
    /// std::system_error if the kernel refuses to say what is ready.
    std::size_t run_ready() { return inner_.poll(); }
    loop& inner() const noexcept { return inner_; }

private:
    void set_timer() noexcept;
    void on_timer(io_result) noexcept;

    loop& inner_;
    int handle_;
    descriptor timer_;
    io_operation expiry_;
    time_point set_for_ = never;  ///< when the timerfd expires next

    friend class loop;
};

}  // namespace eddy
