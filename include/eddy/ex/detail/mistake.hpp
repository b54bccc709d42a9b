// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace eddy::ex {
namespace detail {

/// What get_completion_signatures() returns for a sender that was put together wrongly. The sender
/// then does not model sender_in, and who needs it to calls explain(), which fails to compile with
/// one line of words.
struct mistake {};

template <class...>
inline constexpr bool never = false;

}  // namespace detail
}  // namespace eddy::ex

/// A type `NAME`, derived from mistake, with its words.
#define EDDY_EX_MISTAKE(NAME, WORDS)                                 \
    struct NAME : ::eddy::ex::detail::mistake {                      \
        template <class Sender>                                      \
        static constexpr void explain() {                            \
            static_assert(::eddy::ex::detail::never<Sender>, WORDS); \
        }                                                            \
    }
