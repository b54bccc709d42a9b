// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/env.hpp>

#include <concepts>

namespace eddy::ex {

enum class forward_progress_guarantee { concurrent, parallel, weakly_parallel };

struct scheduler_tag {};

namespace detail {

template <class Scheduler>
concept declared_scheduler =
    std::derived_from<typename Scheduler::scheduler_concept, scheduler_tag>;

}  // namespace detail

/// The query for a scheduler's progress guarantee. A scheduler must answer: assuming the weakest
/// guarantee would hide a forgotten answer.
struct get_forward_progress_guarantee_t {
    template <detail::declared_scheduler Scheduler>
        requires detail::has_query<Scheduler, get_forward_progress_guarantee_t>
    constexpr forward_progress_guarantee operator()(const Scheduler& scheduler) const noexcept {
        static_assert(noexcept(scheduler.query(*this)),
                      "get_forward_progress_guarantee: the answer must be noexcept");
        return scheduler.query(*this);
    }
};
inline constexpr get_forward_progress_guarantee_t get_forward_progress_guarantee{};

}  // namespace eddy::ex

#endif
