// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/loop.hpp>

#include <cstddef>

namespace eddy {

/// Runs a loop inside another event loop, which watches one fd and calls one function:
///
///     embedding inner(loop);
///     host.watch_readable(inner.handle(), [&] { inner.run_ready(); });
///
/// The fd becomes readable for everything, timers included: a timerfd of this object is part of it.
/// Whatever any thread starts, posts, sets or cancels while the loop does not run makes it
/// readable. Watch it level-triggered, and do nothing else with it; it may be readable for no
/// reason. If the host is another eddy loop, use loop_watch.
///
/// The loop may be run in any other way in between. A stop() only ends the next run_ready().
///
/// Thread: the loop's, which is the host's. Lifetime: the embedding ends before the loop, and not
/// inside run_ready(). A loop has one embedding at a time. In the child after fork(), also after
/// after_fork_in_child(), an embedding can only be destroyed; then make another.
class EDDY_API embedding {
public:
    /// Throws std::system_error as loop::native_handle() does (`not_supported` on poll), or if no
    /// timerfd can be made.
    explicit embedding(loop& inner);
    ~embedding();
    embedding(const embedding&) = delete;
    embedding& operator=(const embedding&) = delete;

    /// Returns the fd, which stays open as long as the loop. Watch it only while this object lives.
    int handle() const noexcept { return handle_; }
    /// Handles what is ready, at most `batch_max` completions, and returns how many there were.
    /// Call it when the fd is readable; whatever is left makes the fd readable again. Never waits.
    /// Throws std::system_error if the kernel refuses to say what is ready.
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
