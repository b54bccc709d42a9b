// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/detail/adaptor.hpp>
#include <eddy/ex/get_stop_token.hpp>
#include <eddy/ex/inplace_stop_token.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace eddy::ex {
namespace detail {

template <class Env>
using stop_when_env = joined_env_t<prop<get_stop_token_t, inplace_stop_token>, Env>;

/// State for a receiver that is never stopped. The child sees `token` instead of the receiver's.
template <class Receiver>
struct stop_when_state {
    stop_when_state(Receiver&& r, inplace_stop_token t) noexcept
        : receiver(static_cast<Receiver&&>(r)), token(t) {}

    stop_when_env<env_of_t<Receiver>> env() const noexcept {
        return detail::join_env(prop{get_stop_token, token}, get_env(receiver));
    }
    void watch() noexcept {}

    template <class Done, class... Args>
    void complete(Done done, Args&&... args) noexcept {
        done(static_cast<Receiver&&>(receiver), static_cast<Args&&>(args)...);
    }

    Receiver receiver;
    inplace_stop_token token;
};

/// State for a receiver that can be stopped, too. A source in between listens to both tokens.
template <class Receiver>
struct stop_when_either_state {
    struct forward_stop {
        inplace_stop_source* source;
        void operator()() noexcept { source->request_stop(); }
    };

    stop_when_either_state(Receiver&& r, inplace_stop_token t) noexcept
        : receiver(static_cast<Receiver&&>(r)), token(t) {}

    stop_when_env<env_of_t<Receiver>> env() const noexcept {
        return detail::join_env(prop{get_stop_token, source.get_token()}, get_env(receiver));
    }
    void watch() noexcept {
        on_inner.emplace(token, forward_stop{&source});
        on_outer.emplace(get_stop_token(get_env(receiver)), forward_stop{&source});
    }

    /// May run inside source.request_stop(). After the resets no other thread is inside that call.
    template <class Done, class... Args>
    void complete(Done done, Args&&... args) noexcept {
        on_inner.reset();
        on_outer.reset();
        done(static_cast<Receiver&&>(receiver), static_cast<Args&&>(args)...);
    }

    Receiver receiver;
    inplace_stop_token token;
    inplace_stop_source source;
    std::optional<inplace_stop_callback<forward_stop>> on_inner;
    std::optional<stop_callback_for_t<stop_token_of_t<env_of_t<Receiver>>, forward_stop>> on_outer;
};

template <class Receiver>
using stop_when_state_for =
    std::conditional_t<unstoppable_token<stop_token_of_t<env_of_t<Receiver>>>,
                       stop_when_state<Receiver>, stop_when_either_state<Receiver>>;

template <class Child, class Receiver>
class stop_when_operation : stop_when_state_for<Receiver> {
    using state = stop_when_state_for<Receiver>;

public:
    using operation_state_concept = operation_state_tag;

    stop_when_operation(Child&& child, Receiver&& r, inplace_stop_token t) noexcept(
        connects_nothrow<Child, state_receiver<state>>)
        : state(static_cast<Receiver&&>(r), t),
          child_(connect_unchecked(static_cast<Child&&>(child), state_receiver<state>{this})) {}
    stop_when_operation(stop_when_operation&&) = delete;

    void start() & noexcept {
        this->watch();
        child_.start();
    }

private:
    operation_of<Child, state_receiver<state>> child_;
};

/// `Child` with a second stop token, beside the receiver's.
template <class Child>
struct stop_when_sender : connected_as_it_is<stop_when_sender<Child>> {
    using sender_concept = sender_tag;

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return signatures_or_mistake<like_t<Self, Child>, stop_when_env<Env>...>{};
    }
    template <class Self, class Receiver>
    using operation = stop_when_operation<like_t<Self, Child>, Receiver>;

    template <class Self, class Receiver>
        requires connectable_child<like_t<Self, Child>, stop_when_state_for<Receiver>>
    static auto connect_as(Self&& self, Receiver&& receiver) noexcept(
        std::is_nothrow_constructible_v<operation<Self, Receiver>, like_t<Self, Child>, Receiver,
                                        inplace_stop_token>) {
        return operation<Self, Receiver>(part_of<Self>(self.child),
                                         static_cast<Receiver&&>(receiver), self.token);
    }
    auto get_env() const noexcept { return detail::as_forwarding(ex::get_env(child)); }

    [[no_unique_address]] Child child;
    inplace_stop_token token;
};

}  // namespace detail
}  // namespace eddy::ex
