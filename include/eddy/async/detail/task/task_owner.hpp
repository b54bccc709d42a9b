// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/ex/inplace_stop_token.hpp>
#include <eddy/loop/loop.hpp>

namespace eddy::detail {

EDDY_EX_BEGIN

class task_promise_base;

/// Who has started a task: knows where it lives and what stops it, and is told when it ends. One
/// may have many tasks, so that each of them need not keep all that.
///
/// Lifetime: as long as its tasks.
class task_owner {
public:
    task_owner(const task_owner&) = delete;
    task_owner& operator=(const task_owner&) = delete;

    /// Null: they were started outside any loop.
    loop* home() const noexcept { return home_; }
    ex::inplace_stop_token stop_token() const noexcept { return stop_; }
    /// Nothing stops them but the end of their loop, which ends all I/O there by itself.
    bool stops_with_home() const noexcept { return stops_with_home_; }

    /// By return or exception, or because it was stopped. Called when it is suspended for good;
    /// destroys it or has it destroyed.
    virtual void task_ended(task_promise_base& ended, bool stopped) noexcept = 0;

protected:
    enum class stopped_by : bool { anybody, home_only };

    task_owner() noexcept = default;
    task_owner(loop* home, ex::inplace_stop_token stop,
               stopped_by whom = stopped_by::anybody) noexcept {
        settle(home, stop, whom);
    }
    ~task_owner() = default;

    /// Before a task is started.
    void settle(loop* home, ex::inplace_stop_token stop,
                stopped_by whom = stopped_by::anybody) noexcept {
        home_ = home;
        stop_ = stop;
        stops_with_home_ = whom == stopped_by::home_only;
    }

    /// Where another's tasks live, and stopped as they are.
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
