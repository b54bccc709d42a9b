// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/bulk.hpp>

namespace eddy::ex {

namespace detail {

struct bulk_unchunked_kind : one_index_each {
    EDDY_EX_MISTAKE(mistake,
                    "bulk_unchunked: the function cannot be called with an index and lvalues of "
                    "the values this sender sends");
};

}  // namespace detail

/// Like bulk, but always makes a separate call for each index, which bulk need not do.
struct bulk_unchunked_t : detail::bulk_adaptor<bulk_unchunked_t, detail::bulk_unchunked_kind> {};
inline constexpr bulk_unchunked_t bulk_unchunked{};

}  // namespace eddy::ex

#endif
