// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/into_variant.hpp>
#include <eddy/ex/sync_wait.hpp>

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace eddy::ex {

/// Like sync_wait, for senders that can succeed in several ways. Returns a variant of tuples.
struct sync_wait_with_variant_t {
    template <class Sender>
    auto operator()(Sender&& sender) const {
        auto values = sync_wait(into_variant(static_cast<Sender&&>(sender)));
        using variant = std::tuple_element_t<0, typename decltype(values)::value_type>;
        return values ? std::optional<variant>(std::get<0>(std::move(*values)))
                      : std::optional<variant>();
    }
};
inline constexpr sync_wait_with_variant_t sync_wait_with_variant{};

}  // namespace eddy::ex

#endif
