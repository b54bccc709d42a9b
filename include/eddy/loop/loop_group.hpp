// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/scheduler.hpp>

#include <csignal>
#include <cstddef>
#include <memory>

namespace eddy {

struct loop_group_options {
    std::size_t size = 1;
    loop_options loop = {};
    /// Binds the thread of loop i to core i modulo the number of cores.
    bool pin_to_cores = false;
};

/// A fixed set of loops, each with a thread of its own. If the kernel refuses to let a loop wait
/// (see loop::run()), that is reported and all others stop. join() then throws its exception.
///
/// Thread: one at a time, except what is marked "any" and what scheduler declares.
class EDDY_API loop_group final : public scheduler {
public:
    /// Makes the loops. Throws std::system_error and std::bad_alloc.
    explicit loop_group(loop_group_options options);
    /// Stops and joins. A failure that join() would throw was reported. Precondition: not called on
    /// a thread of the group.
    ~loop_group();
    loop_group(const loop_group&) = delete;
    loop_group& operator=(const loop_group&) = delete;

    /// Starts the threads, each of which runs its loop until it is stopped and drained. Throws
    /// std::system_error if a thread cannot be started; then none is running.
    void start();
    /// Blocks `signals` in the calling thread for good, as block_signals() in
    /// <eddy/os/block_signals.hpp> does, and starts the threads, which inherit the mask. Throws as
    /// start() does.
    void start(const sigset_t& signals);
    /// Stops all loops. Before start(), this ends the next run as soon as it begins. Between
    /// start() and join(), it ends just that run, even of loops that have ended. Thread: any.
    void stop() noexcept;
    /// Returns when all threads have ended. Throws the exception that ended the first loop that
    /// could not go on; after that the group can be started again, however many loops have failed.
    /// Precondition: not called on a thread of the group.
    void join();

    std::size_t size() const noexcept;
    /// Returns a loop by its index. Precondition: `index` is less than size(). Thread: any.
    loop& at(std::size_t index) noexcept;
    /// Returns this thread's loop if it belongs to the group, else each loop in turn. Thread: any.
    loop& next() noexcept;

    /// Returns a group_scheduler; include <eddy/io/loop_scheduler.hpp>.
    template <class Group = loop_group>
    auto get_scheduler() noexcept {
        return scheduler_of(static_cast<Group&>(*this));
    }

    using scheduler::post;
    /// Posts `e` to next().
    void post(entry& e) noexcept override;
    void cancel(entry& e) noexcept override;
    /// Sets or moves `t` on the loop that it belongs to.
    void post_at(time_point when, timer& t) noexcept override;
    void cancel(timer& t) noexcept override;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace eddy
