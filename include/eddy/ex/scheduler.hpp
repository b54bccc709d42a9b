// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/get_forward_progress_guarantee.hpp>
#include <eddy/ex/sender.hpp>

#include <concepts>
#include <type_traits>

namespace eddy::ex {

/// Makes a sender that completes on the scheduler's execution resource.
struct schedule_t {
    template <class Scheduler>
        requires requires(Scheduler&& scheduler) { static_cast<Scheduler&&>(scheduler).schedule(); }
    constexpr auto operator()(Scheduler&& scheduler) const
        noexcept(noexcept(static_cast<Scheduler&&>(scheduler).schedule()))
            -> decltype(static_cast<Scheduler&&>(scheduler).schedule()) {
        static_assert(sender<decltype(static_cast<Scheduler&&>(scheduler).schedule())>,
                      "schedule: the scheduler's member must return a sender");
        return static_cast<Scheduler&&>(scheduler).schedule();
    }
};
inline constexpr schedule_t schedule{};

/// A handle to a place where work runs. Handles are cheap to copy, and equal if they name one
/// place.
template <class Scheduler>
concept scheduler = detail::declared_scheduler<std::remove_cvref_t<Scheduler>> &&
                    requires(Scheduler&& scheduler) {
                        { schedule(static_cast<Scheduler&&>(scheduler)) } -> sender;
                        {
                            get_forward_progress_guarantee(scheduler)
                        } -> std::same_as<forward_progress_guarantee>;
                    } && std::equality_comparable<std::remove_cvref_t<Scheduler>> &&
                    std::copyable<std::remove_cvref_t<Scheduler>> &&
                    std::is_nothrow_move_constructible_v<std::remove_cvref_t<Scheduler>>;

template <scheduler Scheduler>
using schedule_result_t = decltype(schedule(std::declval<Scheduler>()));

}  // namespace eddy::ex

#endif
