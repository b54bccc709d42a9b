// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/adaptor.hpp>
#include <eddy/ex/detail/attributes.hpp>
#include <eddy/ex/get_scheduler.hpp>
#include <eddy/ex/into_variant.hpp>
#include <eddy/ex/scheduler.hpp>

#include <type_traits>
#include <utility>

namespace eddy::ex {

namespace detail {

template <class Scheduler>
using scheduler_env = prop<get_start_scheduler_t, Scheduler>;
template <class Scheduler, class Env>
using starts_on_env = joined_env_t<scheduler_env<Scheduler>, Env>;

/// The state of the child, which runs once the scheduler was reached.
template <class Receiver, class Scheduler>
struct starts_on_state {
    starts_on_state(Receiver&& r, const Scheduler& s) noexcept
        : receiver(static_cast<Receiver&&>(r)), scheduler(s) {}

    starts_on_env<Scheduler, env_of_t<Receiver>> env() const noexcept {
        return detail::join_env(scheduler_env<Scheduler>{{}, scheduler}, get_env(receiver));
    }
    template <class Done, class... Args>
    void complete(Done done, Args&&... args) noexcept {
        done(static_cast<Receiver&&>(receiver), static_cast<Args&&>(args)...);
    }

    Receiver receiver;
    [[no_unique_address]] Scheduler scheduler;
};

/// Connects hop and child at the beginning, so that nothing can fail between the two.
template <class Receiver, class Scheduler, class Child>
class starts_on_operation {
    using state = starts_on_state<Receiver, Scheduler>;

    struct arrival {
        using receiver_concept = receiver_tag;
        starts_on_operation* self;

        void set_value() noexcept { self->child_.start(); }
        template <class Error>
        void set_error(Error&& error) noexcept {
            ex::set_error(static_cast<Receiver&&>(self->state_.receiver),
                          static_cast<Error&&>(error));
        }
        void set_stopped() noexcept {
            ex::set_stopped(static_cast<Receiver&&>(self->state_.receiver));
        }
        auto get_env() const noexcept {
            return detail::as_forwarding(ex::get_env(self->state_.receiver));
        }
    };

public:
    using operation_state_concept = operation_state_tag;
    static constexpr bool nothrow = noexcept(schedule(std::declval<Scheduler&>())) &&
                                    connects_nothrow<schedule_result_t<Scheduler&>, arrival> &&
                                    connects_nothrow<Child, state_receiver<state>>;

    starts_on_operation(Receiver&& receiver, const Scheduler& scheduler,
                        Child&& child) noexcept(nothrow)
        : state_(static_cast<Receiver&&>(receiver), scheduler),
          hop_(connect_unchecked(schedule(state_.scheduler), arrival{this})),
          child_(connect_unchecked(static_cast<Child&&>(child), state_receiver<state>{&state_})) {}
    starts_on_operation(starts_on_operation&&) = delete;

    void start() & noexcept { hop_.start(); }

private:
    state state_;
    operation_of<schedule_result_t<Scheduler&>, arrival> hop_;
    operation_of<Child, state_receiver<state>> child_;
};

/// The child's environment on the scheduler, whether the receiver's environment is known or not.
template <class Scheduler, class... Env>
struct env_there : identity<scheduler_env<Scheduler>> {};
template <class Scheduler, class Env>
struct env_there<Scheduler, Env> : identity<joined_env_t<scheduler_env<Scheduler>, const Env&>> {};

/// The attributes of starts_on. A child that completes where it was started completes on the
/// scheduler; other children name their own place. A stop or an error on the way there completes
/// where the scheduler's own sender says.
template <class Scheduler, class Child>
struct starts_on_attributes : attributes_without_completions<env_of_t<const Child&>> {
    using child_attributes = env_of_t<const Child&>;
    using hop = schedule_result_t<Scheduler&>;
    using attributes_without_completions<child_attributes>::query;
    [[no_unique_address]] Scheduler scheduler_;

    constexpr auto child_env() const noexcept { return scheduler_env<Scheduler>{{}, scheduler_}; }
    template <class Env>
    constexpr auto child_env(const Env& env) const noexcept {
        return detail::join_env(child_env(), env);
    }
    template <class... Env>
    using child_env_t = typename env_there<Scheduler, Env...>::type;

    template <class Tag, class... Env>
    static constexpr bool ends_on_the_way =
        !std::is_same_v<Tag, set_value_t> && may_send<hop, Tag, forwarding_env_t<const Env&>...>();
    template <class Tag, class... Env>
    static constexpr bool ends_there =
        detail::ends_there<Scheduler, Tag, forwarding_env_t<const Env&>...>() &&
        (!may_send<Child, Tag, child_env_t<Env...>>() ||
         answers<child_attributes, completes_where_started_t<Tag>, child_env_t<Env...>>);
    template <class Tag, class... Env>
    static constexpr bool the_child_knows =
        may_send<Child, Tag, child_env_t<Env...>>() &&
        std::is_invocable_v<get_completion_scheduler_t<Tag>, child_attributes, child_env_t<Env...>>;

    template <class Tag, class... Env>
        requires(!ends_on_the_way<Tag, Env...> && the_child_knows<Tag, Env...>)
    constexpr auto query(get_completion_scheduler_t<Tag> query, const Env&... env) const noexcept {
        return query(this->env_, child_env(env...));
    }
    template <class Tag, class... Env>
        requires(ends_on_the_way<Tag, Env...> && ends_there<Tag, Env...>)
    constexpr Scheduler query(get_completion_scheduler_t<Tag>, const Env&...) const noexcept {
        return scheduler_;
    }
    template <class... Env>
        requires(ends_there<set_value_t, Env...> && ends_there<set_error_t, Env...> &&
                 ends_there<set_stopped_t, Env...>)
    static constexpr bool query(completes_in_one_place_t, const Env&...) noexcept {
        return true;
    }
};

template <class Scheduler, class Child>
struct starts_on_sender : connected_as_it_is<starts_on_sender<Scheduler, Child>> {
    using sender_concept = sender_tag;

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return join_signatures_t<
            signatures_or_mistake<like_t<Self, Child>, starts_on_env<Scheduler, Env>...>,
            map_signatures_t<
                signatures_or_mistake<schedule_result_t<Scheduler&>, forwarding_env_t<Env>...>,
                drop_values>>{};
    }

    template <class Self, class Receiver>
    using operation = starts_on_operation<Receiver, Scheduler, like_t<Self, Child>>;

    template <class Self, class Receiver>
        requires connectable_child<like_t<Self, Child>, starts_on_state<Receiver, Scheduler>>
    static auto connect_as(Self&& self,
                           Receiver&& receiver) noexcept(operation<Self, Receiver>::nothrow) {
        return operation<Self, Receiver>(static_cast<Receiver&&>(receiver), self.scheduler,
                                         part_of<Self>(self.child));
    }
    auto get_env() const noexcept {
        return starts_on_attributes<Scheduler, Child>{{ex::get_env(child)}, scheduler};
    }

    [[no_unique_address]] Scheduler scheduler;
    [[no_unique_address]] Child child;
};

}  // namespace detail

/// Starts a sender on a scheduler.
struct starts_on_t {
    template <scheduler Scheduler, sender Sender>
    constexpr auto operator()(Scheduler&& scheduler, Sender&& sender) const {
        using result =
            detail::starts_on_sender<std::remove_cvref_t<Scheduler>, std::remove_cvref_t<Sender>>;
        detail::check_early<result>();
        return result{{}, static_cast<Scheduler&&>(scheduler), static_cast<Sender&&>(sender)};
    }
};
inline constexpr starts_on_t starts_on{};

}  // namespace eddy::ex

#endif
