#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/env.hpp>

namespace eddy::ex {
inline namespace builtin {

enum class forward_progress_guarantee { concurrent, parallel, weakly_parallel };

/// Asked of a scheduler.
struct get_forward_progress_guarantee_t {
    template <class Scheduler>
    constexpr forward_progress_guarantee operator()(const Scheduler& scheduler) const noexcept {
        if constexpr (detail::has_query<Scheduler, get_forward_progress_guarantee_t>) {
            static_assert(noexcept(scheduler.query(*this)),
                          "get_forward_progress_guarantee: the answer must be noexcept");
            return scheduler.query(*this);
        } else {
            return forward_progress_guarantee::weakly_parallel;
        }
    }
};
inline constexpr get_forward_progress_guarantee_t get_forward_progress_guarantee{};

}  // namespace builtin
}  // namespace eddy::ex

#endif
