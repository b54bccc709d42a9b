// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support.hpp"

namespace eddy::ex_testing {

/// Adaptors pass it on.
struct get_name_t {
    static constexpr bool query(ex::forwarding_query_t) noexcept { return true; }
    template <class Env>
    auto operator()(const Env& env) const noexcept -> decltype(env.query(*this)) {
        return env.query(*this);
    }
};
inline constexpr get_name_t get_name{};

/// They do not pass this one on.
struct get_secret_t {
    template <class Env>
    auto operator()(const Env& env) const noexcept -> decltype(env.query(*this)) {
        return env.query(*this);
    }
};
inline constexpr get_secret_t get_secret{};

}  // namespace eddy::ex_testing
