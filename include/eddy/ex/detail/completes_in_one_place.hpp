// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/forwarding_query.hpp>

namespace eddy::detail {

EDDY_EX_BEGIN

/// Asked of a sender's attributes: all of its completions happen on the same scheduler, whichever
/// their kind. Two schedulers of one type can differ, so that their equality alone is known too
/// late to tell where an adaptor completes that makes one kind of completion of two.
struct completes_in_one_place_t {
    static constexpr bool query(ex::forwarding_query_t) noexcept { return true; }
};

EDDY_EX_END

}  // namespace eddy::detail
