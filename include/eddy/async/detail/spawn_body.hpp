#pragma once

#include <eddy/async/detail/background.hpp>
#include <eddy/async/spawn.hpp>

#include <exception>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

EDDY_EX_INLINE void spawned_task::post(loop& home) noexcept {
    task_promise_base& promise = task_access::promise(task_);
    promise.adopt(&home, {}, *this);
    promise.post_start(&on_run, &on_drop);
}

EDDY_EX_INLINE spawned_task& spawned_task::of(entry& start) noexcept {
    return static_cast<spawned_task&>(task_promise_base::observer_of(start));
}
EDDY_EX_INLINE void spawned_task::on_run(entry& start) noexcept { of(start).run(); }
EDDY_EX_INLINE void spawned_task::on_drop(entry& start) noexcept { of(start).drop(); }

EDDY_EX_INLINE void spawned_task::run() noexcept {
    task_promise<void>& promise = task_access::promise(task_);
    try {
        in_ = &background::of(*promise.home());
    } catch (...) {
        failed(std::current_exception());
        drop();
        return;
    }
    in_->enter();
    promise.adopt(promise.home(), in_->get_stop_token(), *this);
    promise.stop_with_home();
    task_access::start(task_);
}

EDDY_EX_INLINE void spawned_task::task_ended(bool) noexcept {
    if (auto error = task_access::promise(task_).result().error()) {
        failed(std::move(error));
    }
    background& in = *in_;
    drop();
    in.leave();
}

EDDY_EX_END

}  // namespace eddy::detail
