// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/bulk.hpp>

namespace eddy::ex {

namespace detail {

struct bulk_kind : one_index_each {
    EDDY_EX_MISTAKE(mistake,
                    "bulk: the function cannot be called with an index and lvalues of the values "
                    "this sender sends");
};

}  // namespace detail

/// Calls a function with each index below a shape and a sender's values, and passes the values on.
///
///     sender | ex::bulk(std::execution::par, 10, [](int index, auto& values) { ... })
struct bulk_t : detail::bulk_adaptor<bulk_t, detail::bulk_kind> {};
inline constexpr bulk_t bulk{};

}  // namespace eddy::ex

#endif
