// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <concepts>
#include <type_traits>

namespace eddy::ex {

/// True if an adaptor passes a query on to the environment of the adapted sender.
struct forwarding_query_t {
    template <class Query>
    constexpr bool operator()(Query&& query) const noexcept {
        if constexpr (requires { query.query(*this); }) {
            return query.query(*this);
        } else {
            return std::derived_from<std::remove_cvref_t<Query>, forwarding_query_t>;
        }
    }
};
inline constexpr forwarding_query_t forwarding_query{};

}  // namespace eddy::ex

#endif
