// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/ex/inplace_stop_token.hpp>
#include <eddy/loop/loop.hpp>

namespace eddy::detail {

EDDY_EX_BEGIN

class task_promise_base;

/// Starts tasks: knows the loop where they live and their stop token, and is notified when they
/// end. One owner may have many tasks, so that this data is not in each of them.
///
/// Lifetime: the owner must outlive its tasks.
class task_owner {
public:
    task_owner(const task_owner&) = delete;
    task_owner& operator=(const task_owner&) = delete;

    /// Returns the loop of the tasks, or null if they were started outside any loop.
    loop* home() const noexcept { return home_; }
    ex::inplace_stop_token stop_token() const noexcept { return stop_; }
    /// True if only the end of their loop, which cancels all I/O there by itself, stops the tasks.
    bool stops_with_home() const noexcept { return stops_with_home_; }

    /// Called when a task has returned, thrown or been stopped, and is suspended for good. Destroys
    /// the task, or has it destroyed.
    virtual void task_ended(task_promise_base& ended, bool stopped) noexcept = 0;

protected:
    enum class stopped_by : bool { anybody, home_only };

    task_owner() noexcept = default;
    task_owner(loop* home, ex::inplace_stop_token stop,
               stopped_by whom = stopped_by::anybody) noexcept {
        settle(home, stop, whom);
    }
    ~task_owner() = default;

    /// Sets where tasks live and what stops them. Must be called before a task is started.
    void settle(loop* home, ex::inplace_stop_token stop,
                stopped_by whom = stopped_by::anybody) noexcept {
        home_ = home;
        stop_ = stop;
        stops_with_home_ = whom == stopped_by::home_only;
    }

    /// Takes the loop and the stop token from another owner.
    void settle_as(const task_owner& other) noexcept {
        home_ = other.home_;
        stop_ = other.stop_;
        stops_with_home_ = other.stops_with_home_;
    }

private:
    loop* home_ = nullptr;
    ex::inplace_stop_token stop_;
    bool stops_with_home_ = false;
};

EDDY_EX_END

}  // namespace eddy::detail
