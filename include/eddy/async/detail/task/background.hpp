// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/task/task_owner.hpp>
#include <eddy/async/task.hpp>
#include <eddy/base/config.hpp>
#include <eddy/base/detail/member.hpp>
#include <eddy/ex/inplace_stop_token.hpp>
#include <eddy/loop/detail/loop_notice.hpp>
#include <eddy/loop/loop.hpp>

#include <cstddef>
#include <exception>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

class background_tasks;

/// Receives the exception of a spawned task.
using failure_handler = void (*)(std::exception_ptr error) noexcept;

/// Stops the tasks that spawn() has started on one loop when the loop is destroyed. It is made for
/// the first of them, and deletes itself when the loop and all of them have ended.
///
/// Thread: the loop's.
class background {
public:
    /// Returns the background of `home`, which is made if there is none. Throws std::bad_alloc.
    static background& of(loop& home) {
        if (loop_notice* const known = home.resident(&on_end)) {
            return of(*known);
        }
        auto* const made = new background;
        home.add_resident(made->end_);
        return *made;
    }
    background(const background&) = delete;
    background& operator=(const background&) = delete;

    ex::inplace_stop_token get_stop_token() const noexcept { return stop_.get_token(); }
    /// Returns the owner of the tasks with this handler. Throws std::bad_alloc.
    background_tasks& tasks_with(failure_handler on_error, loop& home);
    void enter() noexcept { ++tasks_; }
    void leave() noexcept {
        if (--tasks_ == 0 && ended_) {
            delete this;
        }
    }

private:
    background() = default;
    ~background();

    static background& of(loop_notice& end) noexcept { return owner_of<&background::end_>(end); }
    static void on_end(loop_notice& end) noexcept {
        background& self = of(end);
        self.enter();  // all tasks may end inside the request
        self.stop_.request_stop();
        self.ended_ = true;
        self.leave();
    }
    /// Called if the loop is destroyed in the child of a fork(): tasks that wait stay as they are.
    static void on_lost(loop_notice& end) noexcept {
        background& self = of(end);
        self.enter();
        self.ended_ = true;
        self.leave();
    }

    loop_notice end_{&on_end, &on_lost};
    ex::inplace_stop_source stop_;
    background_tasks* first_ = nullptr;
    std::size_t tasks_ = 0;
    bool ended_ = false;
};

/// The owner of the tasks in a background that share a stateless handler: they have only their
/// frames.
class background_tasks final : public task_owner {
public:
    background_tasks(background& in, loop& home, failure_handler on_error,
                     background_tasks* next) noexcept
        : task_owner(&home, in.get_stop_token(), stopped_by::home_only),
          in_(in),
          on_error_(on_error),
          next_(next) {}

    void start(task<>&& run) noexcept {
        in_.enter();
        task_access::promise(run).adopt(*this);
        task_access::let_go(std::move(run));
    }
    failure_handler handler() const noexcept { return on_error_; }
    background_tasks* next() const noexcept { return next_; }

private:
    void task_ended(task_promise_base& ended, bool) noexcept override {
        auto& promise = static_cast<task_promise<void>&>(ended);
        if (auto error = promise.result().error()) {
            on_error_(std::move(error));
        }
        task_access::destroy(promise);
        in_.leave();  // this may be gone
    }

    background& in_;
    failure_handler on_error_;
    background_tasks* next_;
};

inline background_tasks& background::tasks_with(failure_handler on_error, loop& home) {
    for (background_tasks* known = first_; known != nullptr; known = known->next()) {
        if (known->handler() == on_error) {
            return *known;
        }
    }
    first_ = new background_tasks(*this, home, on_error, first_);
    return *first_;
}

inline background::~background() {
    while (first_ != nullptr) {
        delete std::exchange(first_, first_->next());
    }
}

EDDY_EX_END

}  // namespace eddy::detail
