// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/get_scheduler.hpp>
#include <eddy/io/loop_scheduler.hpp>
#include <eddy/loop/loop.hpp>

#include <concepts>
#include <type_traits>

namespace eddy::detail {
EDDY_EX_BEGIN

template <class Env>
concept has_loop = requires(const Env& env) {
    { ex::get_scheduler(env).home() } -> std::same_as<loop&>;
};

template <class Scheduler>
bool has_home(const Scheduler&) noexcept {
    return true;
}
/// False for the scheduler of a task that was started outside any loop.
inline bool has_home(const loop_scheduler& scheduler) noexcept {
    return scheduler != loop_scheduler(nullptr);
}

/// Returns the loop for the timers of an operation: that of its environment's scheduler, or else
/// the one that this thread is running, or null.
template <class Env>
loop* find_loop(const Env& env) noexcept {
    if constexpr (has_loop<Env>) {
        const auto scheduler = ex::get_scheduler(env);
        if (has_home(scheduler)) return &scheduler.home();
    }
    return loop::current();
}

inline loop& need_loop(loop* found) noexcept {
    EDDY_ASSERT(found != nullptr,
                "something that needs a timer was started outside any loop: start it on one, or "
                "give it an environment with a loop's scheduler");
    return *found;
}

EDDY_EX_END
}  // namespace eddy::detail
