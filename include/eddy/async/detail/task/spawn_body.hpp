// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/task/background.hpp>
#include <eddy/async/spawn.hpp>

#include <exception>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

EDDY_EX_INLINE void spawned_task::post() noexcept { where_.post(start_); }

EDDY_EX_INLINE void spawned_task::run() noexcept {
    try {
        start();
    } catch (...) {
        failed(std::current_exception());
        drop();
    }
}

/// A spawned task whose handler has no state: it is gone when the task has begun.
class plain_spawned final : public spawned_task {
public:
    plain_spawned(failure_handler on_error, loop& home, task<>&& run) noexcept
        : spawned_task(home, std::move(run)), on_error_(on_error) {}

private:
    void failed(std::exception_ptr error) noexcept override { on_error_(std::move(error)); }
    void start() override {
        background_tasks& owner = background::of(where_).tasks_with(on_error_, where_);
        task<> run = std::move(task_);
        delete_in(task_access::promise(run).get_allocator(), this);
        owner.start(std::move(run));
    }
    void drop() noexcept override { delete_in(memory(), this); }

    failure_handler on_error_;
};

EDDY_EX_INLINE void spawn_with(failure_handler on_error, loop& home, task<>&& run) {
    const frame_allocator memory = task_access::promise(run).get_allocator();
    new_in<plain_spawned>(memory, on_error, home, std::move(run))->post();
}

EDDY_EX_INLINE void handled_task::start() {
    in_ = &background::of(where_);
    in_->enter();
    settle(&where_, in_->get_stop_token(), stopped_by::home_only);
    task_access::promise(task_).adopt(*this);
    task_access::start(task_);
}

EDDY_EX_INLINE void handled_task::task_ended(task_promise_base&, bool) noexcept {
    if (auto error = task_access::promise(task_).result().error()) {
        failed(std::move(error));
    }
    background& in = *in_;
    drop();
    in.leave();
}

EDDY_EX_END

}  // namespace eddy::detail
