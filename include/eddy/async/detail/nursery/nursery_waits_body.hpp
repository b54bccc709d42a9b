// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/nursery/nursery_waits.hpp>

#include <coroutine>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

EDDY_EX_INLINE unstoppable_wait::unstoppable_wait(wait_sender<event_wait>&& sender,
                                                  task_promise_base& promise,
                                                  std::coroutine_handle<> waiting) noexcept
    : wait_(promise, waiting), operation_(std::move(sender).connect(receiver{this})) {}

EDDY_EX_INLINE unstoppable_wait::~unstoppable_wait() = default;

EDDY_EX_INLINE bool unstoppable_wait::await_suspend(std::coroutine_handle<>) noexcept {
    operation_.start();
    return wait_.suspend();
}

EDDY_EX_END

}  // namespace eddy::detail
