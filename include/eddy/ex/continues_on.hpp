// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/adaptor.hpp>
#include <eddy/ex/detail/attributes.hpp>
#include <eddy/ex/detail/keepable.hpp>
#include <eddy/ex/detail/stored_result.hpp>
#include <eddy/ex/into_variant.hpp>
#include <eddy/ex/scheduler.hpp>
#include <eddy/ex/sender_adaptor_closure.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace eddy::ex {

namespace detail {

template <class Child, class Schedule>
consteval auto continues_on_signatures() {
    if constexpr (!is_signatures<Child>) {
        return Child{};
    } else if constexpr (!keepable<Child, set_value_t, set_error_t>) {
        return not_keepable{};
    } else {
        return join_signatures_t<stored_signatures_t<Child>,
                                 map_signatures_t<Schedule, drop_values>>{};
    }
}

template <class Receiver, class Scheduler, class Signatures>
class continues_on_state {
    struct arrival {
        using receiver_concept = receiver_tag;
        continues_on_state* state;

        void set_value() noexcept { state->results_.deliver(state->receiver_); }
        template <class Error>
        void set_error(Error&& error) noexcept {
            ex::set_error(static_cast<Receiver&&>(state->receiver_), static_cast<Error&&>(error));
        }
        void set_stopped() noexcept { ex::set_stopped(static_cast<Receiver&&>(state->receiver_)); }
        auto get_env() const noexcept { return state->env(); }
    };

public:
    static constexpr bool nothrow = noexcept(schedule(std::declval<Scheduler&>())) &&
                                    connects_nothrow<schedule_result_t<Scheduler&>, arrival>;

    continues_on_state(Receiver&& receiver, Scheduler scheduler) noexcept(nothrow)
        : receiver_(static_cast<Receiver&&>(receiver)),
          hop_(connect_unchecked(schedule(scheduler), arrival{this})) {}

    auto env() const noexcept { return detail::as_forwarding(get_env(receiver_)); }

    template <class Done, class... Args>
    void complete(Done done, Args&&... args) noexcept {
        results_.store(done, static_cast<Args&&>(args)...);
        hop_.start();
    }

private:
    Receiver receiver_;
    result_store<Signatures> results_;
    operation_of<schedule_result_t<Scheduler&>, arrival> hop_;
};

template <class Child, class Scheduler>
struct continues_on_sender : connected_as_it_is<continues_on_sender<Child, Scheduler>> {
    using sender_concept = sender_tag;

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return detail::continues_on_signatures<
            child_signatures<Self, Child, Env...>,
            signatures_or_mistake<schedule_result_t<Scheduler&>, forwarding_env_t<Env>...>>();
    }

    template <class Self, class Receiver>
    using state = continues_on_state<
        Receiver, Scheduler,
        signatures_or_mistake<like_t<Self, Child>, forwarding_env_t<env_of_t<Receiver>>>>;
    template <class Self, class Receiver>
    using operation = adaptor_operation<like_t<Self, Child>, state<Self, Receiver>>;

    template <class Self, class Receiver>
        requires connectable_child<like_t<Self, Child>, state<Self, Receiver>>
    static auto connect_as(Self&& self, Receiver&& receiver) noexcept(
        std::is_nothrow_constructible_v<operation<Self, Receiver>, like_t<Self, Child>, Receiver,
                                        const Scheduler&>) {
        return operation<Self, Receiver>(part_of<Self>(self.child),
                                         static_cast<Receiver&&>(receiver), self.scheduler);
    }
    auto get_env() const noexcept {
        return scheduled_attributes<continues_on_sender, Scheduler, env_of_t<const Child&>>{
            {ex::get_env(child)}, scheduler};
    }

    [[no_unique_address]] Child child;
    [[no_unique_address]] Scheduler scheduler;
};

}  // namespace detail

/// Delivers the completion of a sender on a scheduler.
struct continues_on_t {
    template <sender Sender, scheduler Scheduler>
    constexpr auto operator()(Sender&& sender, Scheduler&& scheduler) const {
        using result = detail::continues_on_sender<std::remove_cvref_t<Sender>,
                                                   std::remove_cvref_t<Scheduler>>;
        detail::check_early<result>();
        return result{{}, static_cast<Sender&&>(sender), static_cast<Scheduler&&>(scheduler)};
    }
    template <scheduler Scheduler>
    constexpr auto operator()(Scheduler&& scheduler) const {
        return detail::bound_closure(continues_on_t{}, static_cast<Scheduler&&>(scheduler));
    }
};
inline constexpr continues_on_t continues_on{};

}  // namespace eddy::ex

#endif
