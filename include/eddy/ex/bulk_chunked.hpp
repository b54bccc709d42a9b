// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/bulk.hpp>

namespace eddy::ex {

namespace detail {

struct bulk_chunked_kind : one_range {
    EDDY_EX_MISTAKE(mistake,
                    "bulk_chunked: the function cannot be called with two indices and lvalues of "
                    "the values this sender sends");
};

}  // namespace detail

/// Like bulk, but calls the function with ranges of indices: the first index and one past the last.
struct bulk_chunked_t : detail::bulk_adaptor<bulk_chunked_t, detail::bulk_chunked_kind> {};
inline constexpr bulk_chunked_t bulk_chunked{};

}  // namespace eddy::ex

#endif
