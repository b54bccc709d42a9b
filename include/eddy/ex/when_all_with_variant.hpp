// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/into_variant.hpp>
#include <eddy/ex/when_all.hpp>

namespace eddy::ex {

/// Like when_all, for senders that can succeed in several ways: sends one variant of tuples for
/// each.
struct when_all_with_variant_t {
    template <sender... Senders>
        requires(sizeof...(Senders) != 0)
    constexpr auto operator()(Senders&&... senders) const {
        return when_all(into_variant(static_cast<Senders&&>(senders))...);
    }
    /// Never compiles: explains which argument is wrong.
    template <class... Senders>
        requires(!(sender<Senders> && ...))
    constexpr auto operator()(Senders&&... senders) const {
        return when_all(static_cast<Senders&&>(senders)...);
    }
};
inline constexpr when_all_with_variant_t when_all_with_variant{};

}  // namespace eddy::ex

#endif
