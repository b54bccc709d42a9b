// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/plain_adaptor.hpp>

#include <type_traits>

namespace eddy::ex {

namespace detail {

template <class Receiver>
struct schedule_from_state : plain_state<Receiver> {
    using plain_state<Receiver>::plain_state;

    template <class Done, class... Args>
    void complete(Done done, Args&&... args) noexcept {
        done(static_cast<Receiver&&>(this->receiver), static_cast<Args&&>(args)...);
    }
};

struct schedule_from_kind {
    template <class Child>
    static consteval auto signatures() {
        return Child{};
    }
    template <class Receiver, class Child>
    using state = schedule_from_state<Receiver>;
    template <class Done, class Child>
    using sources = type_list<Done>;
};

}  // namespace detail

/// Passes a sender on, and marks the point where a chain leaves its scheduler. Without domains the
/// mark has no effect.
struct schedule_from_t {
    template <sender Sender>
    constexpr auto operator()(Sender&& sender) const {
        return detail::plain_sender<detail::schedule_from_kind, std::remove_cvref_t<Sender>>{
            {}, static_cast<Sender&&>(sender)};
    }
};
inline constexpr schedule_from_t schedule_from{};

}  // namespace eddy::ex

#endif
