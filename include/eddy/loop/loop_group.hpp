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

/// A fixed set of loops, one thread each. If the kernel refuses to let one of them wait (see
/// loop::run()), that is reported, and all others stop: join() throws what that run() has thrown.
class EDDY_API loop_group final : public scheduler {
public:
    /// Throws std::system_error.
    explicit loop_group(loop_group_options options);
    /// Stops and joins. What join() would throw was reported.
    ~loop_group();
    loop_group(const loop_group&) = delete;
    loop_group& operator=(const loop_group&) = delete;

    /// Starts the threads. Each runs its loop until it is stopped and drained. Throws
    /// std::system_error; then none is running.
    void start();
    /// Blocks `signals` in the calling thread first, as block_signals() in
    /// <eddy/os/block_signals.hpp> does, so that the new threads inherit the mask. They stay
    /// blocked in the caller.
    void start(const sigset_t& signals);
    /// Thread: any. Before start() it ends the next run as soon as it has begun; between start()
    /// and join() it ends just that run, also of loops that have ended already.
    void stop() noexcept;
    /// Returns when all threads have ended. Not from one of them. Throws what has ended the first
    /// loop that could not run on; after that the group can be started again, however many have
    /// failed.
    void join();

    std::size_t size() const noexcept;
    loop& at(std::size_t index) noexcept;
    /// The current loop if it is one of these, else one after the other.
    loop& next() noexcept;

    /// A group_scheduler: include <eddy/io/loop_scheduler.hpp>.
    template <class Group = loop_group>
    auto get_scheduler() noexcept {
        return scheduler_of(static_cast<Group&>(*this));
    }

    /// To next().
    using scheduler::post;
    void post(entry& e) noexcept override;
    void cancel(entry& e) noexcept override;
    /// On the loop that the timer belongs to.
    void post_at(time_point when, timer& t) noexcept override;
    void cancel(timer& t) noexcept override;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace eddy
