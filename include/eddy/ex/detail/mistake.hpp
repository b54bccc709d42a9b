// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace eddy::ex {
namespace detail {

/// The result of get_completion_signatures() for a wrongly composed sender, which then does not
/// model sender_in. Code that needs sender_in calls explain(), which fails to compile with a
/// one-line message.
struct mistake {};

template <class...>
inline constexpr bool never = false;

}  // namespace detail
}  // namespace eddy::ex

/// Defines a type `NAME`, derived from mistake, whose message is WORDS.
#define EDDY_EX_MISTAKE(NAME, WORDS)                                 \
    struct NAME : ::eddy::ex::detail::mistake {                      \
        template <class Sender>                                      \
        static constexpr void explain() {                            \
            static_assert(::eddy::ex::detail::never<Sender>, WORDS); \
        }                                                            \
    }
