// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/forwarding_query.hpp>

namespace eddy::detail {

EDDY_EX_BEGIN

/// The query for sender attributes that is true if all completions, of any kind, happen on one
/// scheduler. An adaptor that merges two kinds of completions needs it. Comparing schedulers would
/// not do: two schedulers of one type can differ, and a comparison at run time comes too late.
struct completes_in_one_place_t {
    static constexpr bool query(ex::forwarding_query_t) noexcept { return true; }
};

EDDY_EX_END

}  // namespace eddy::detail
