// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/get_forward_progress_guarantee.hpp>
#include <eddy/ex/just.hpp>
#include <eddy/ex/scheduler.hpp>

namespace eddy::ex {

/// Runs work where it is started: its sender completes inside start().
class inline_scheduler {
public:
    using scheduler_concept = scheduler_tag;

    static constexpr auto schedule() noexcept { return just(); }
    static constexpr auto query(get_forward_progress_guarantee_t) noexcept {
        return forward_progress_guarantee::weakly_parallel;
    }
    static constexpr bool query(detail::completes_where_started_t<set_value_t>) noexcept {
        return true;
    }
    bool operator==(const inline_scheduler&) const = default;
};

}  // namespace eddy::ex

#endif
