// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/just.hpp>
#include <eddy/ex/let_stopped.hpp>

#include <type_traits>
#include <utility>

namespace eddy::ex {

/// Turns a stop into an error.
struct stopped_as_error_t {
    template <sender Sender, detail::movable_value Error>
    constexpr auto operator()(Sender&& sender, Error&& error) const {
        using stored = std::decay_t<Error>;
        return let_stopped(static_cast<Sender&&>(sender),
                           [kept = stored(static_cast<Error&&>(error))]() mutable noexcept(
                               std::is_nothrow_move_constructible_v<stored>) {
                               return just_error(static_cast<stored&&>(kept));
                           });
    }
    template <detail::movable_value Error>
    constexpr auto operator()(Error&& error) const {
        return detail::bound_closure(stopped_as_error_t{}, static_cast<Error&&>(error));
    }
};
inline constexpr stopped_as_error_t stopped_as_error{};

}  // namespace eddy::ex

#endif
