// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/connect_awaitable.hpp>
#include <eddy/ex/operation_state.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/sender.hpp>

#include <utility>

namespace eddy::ex {

namespace detail {

template <class Sender, class Receiver>
concept has_connect = requires(Sender&& sender, Receiver&& receiver) {
    static_cast<Sender&&>(sender).connect(static_cast<Receiver&&>(receiver));
};

/// connect() without a check of the signatures, for adaptors, whose own signatures were checked.
struct connect_unchecked_t {
    template <class Sender, class Receiver>
        requires has_connect<Sender, Receiver>
    constexpr auto operator()(Sender&& sender, Receiver&& receiver) const
        noexcept(noexcept(static_cast<Sender&&>(sender).connect(static_cast<Receiver&&>(receiver))))
            -> decltype(static_cast<Sender&&>(sender).connect(static_cast<Receiver&&>(receiver))) {
        return static_cast<Sender&&>(sender).connect(static_cast<Receiver&&>(receiver));
    }
    template <class Sender, class Receiver>
        requires(!has_connect<Sender, Receiver> &&
                 awaitable<Sender, awaiting_promise<std::remove_cvref_t<Receiver>>>)
    auto operator()(Sender&& sender, Receiver&& receiver) const
        -> awaiting_operation<std::remove_cvref_t<Receiver>> {
        return detail::connect_awaitable(static_cast<Sender&&>(sender),
                                         static_cast<Receiver&&>(receiver));
    }
};
inline constexpr connect_unchecked_t connect_unchecked{};

template <class Sender, class Receiver>
using operation_of = decltype(connect_unchecked(std::declval<Sender>(), std::declval<Receiver>()));

template <class Sender, class Receiver>
inline constexpr bool connects_nothrow =
    noexcept(connect_unchecked(std::declval<Sender>(), std::declval<Receiver>()));

template <class Sender, class Receiver>
concept matching = receiver<Receiver> && sender_in<Sender, env_of_t<Receiver>> &&
                   receiver_of<Receiver, completion_signatures_of_t<Sender, env_of_t<Receiver>>>;

template <class Sender, class Receiver>
concept connectable =
    matching<Sender, Receiver> && std::is_invocable_v<connect_unchecked_t, Sender, Receiver>;

struct not_connected {};

}  // namespace detail

/// Connects a sender to a receiver, and returns the operation state.
struct connect_t {
    template <class Sender, class Receiver>
        requires detail::connectable<Sender, Receiver>
    constexpr auto operator()(Sender&& sender, Receiver&& receiver) const
        noexcept(detail::connects_nothrow<Sender, Receiver>)
            -> detail::operation_of<Sender, Receiver> {
        static_assert(operation_state<detail::operation_of<Sender, Receiver>>,
                      "connect: the sender's member returned no operation state: it needs `using "
                      "operation_state_concept = ex::operation_state_tag` and start() & noexcept");
        return detail::connect_unchecked(static_cast<Sender&&>(sender),
                                         static_cast<Receiver&&>(receiver));
    }

    /// Never compiles: explains why the sender and the receiver cannot be connected.
    template <class Sender, class Receiver>
    constexpr auto operator()(Sender&&, Receiver&&) const -> detail::not_connected {
        if constexpr (!receiver<Receiver>) {
            static_assert(detail::never<Receiver>,
                          "connect: the second argument is not a receiver: it needs `using "
                          "receiver_concept = ex::receiver_tag` and a noexcept move constructor");
        } else if constexpr (!sender_in<Sender, env_of_t<Receiver>>) {
            detail::explain_sender<Sender, env_of_t<Receiver>>();
        } else if constexpr (!detail::matching<Sender, Receiver>) {
            static_assert(detail::never<Receiver>,
                          "connect: the receiver cannot receive what this sender sends");
        } else {
            static_assert(detail::never<Receiver>,
                          "connect: the sender has no connect() for this receiver and this kind of "
                          "object (an lvalue that cannot be copied?)");
        }
        return {};
    }
};
inline constexpr connect_t connect{};

template <class Sender, class Receiver>
    requires detail::connectable<Sender, Receiver>
using connect_result_t = detail::operation_of<Sender, Receiver>;

template <class Sender, class Receiver>
concept sender_to = detail::connectable<Sender, Receiver>;

}  // namespace eddy::ex

#endif
