// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/continues_on.hpp>
#include <eddy/ex/get_completion_scheduler.hpp>
#include <eddy/ex/starts_on.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace eddy::ex {

namespace detail {

EDDY_EX_MISTAKE(on_no_way_back,
                "on: the environment has no start scheduler (get_start_scheduler) to come back to");
EDDY_EX_MISTAKE(
    on_no_origin,
    "on: it is not known where the sender completes (get_completion_scheduler), so there "
    "is no way back");

/// The attributes of on(scheduler, child), which completes where it was started.
template <class Sender, class Child>
struct on_attributes : attributes_without_completions<env_of_t<const Child&>> {
    using attributes_without_completions<env_of_t<const Child&>>::query;

    template <class Env>
    using origin = std::remove_cvref_t<std::invoke_result_t<get_start_scheduler_t, const Env&>>;

    template <class Tag, class Env>
        requires(has_query<Env, get_start_scheduler_t> &&
                 delivers_on<Sender, origin<Env>, Tag, Env>())
    constexpr auto query(get_completion_scheduler_t<Tag>, const Env& env) const noexcept {
        return last_scheduler(get_start_scheduler(env), env);
    }
    template <class Tag, class Env>
        requires(has_query<Env, get_start_scheduler_t> &&
                 delivers_on<Sender, origin<Env>, Tag, Env>())
    static constexpr bool query(completes_where_started_t<Tag>, const Env&) noexcept {
        return true;
    }
    template <class Env>
        requires(has_query<Env, get_start_scheduler_t> &&
                 ends_there<origin<Env>, set_error_t, Env>() &&
                 ends_there<origin<Env>, set_stopped_t, Env>())
    static constexpr bool query(completes_in_one_place_t, const Env&) noexcept {
        return true;
    }
};

/// on(scheduler, child): runs the child on the scheduler, and returns to where it was started.
template <class Scheduler, class Child>
struct on_sender : connected_as_it_is<on_sender<Scheduler, Child>> {
    using sender_concept = sender_tag;

    template <class C, class Env>
    static auto expand(const Scheduler& scheduler, C&& child, const Env& env) {
        return continues_on(starts_on(scheduler, static_cast<C&&>(child)),
                            get_start_scheduler(env));
    }
    template <class Self, class Env>
    using expanded =
        decltype(expand(std::declval<const Scheduler&>(), std::declval<like_t<Self, Child>>(),
                        std::declval<const std::remove_cvref_t<Env>&>()));

    template <class Self, class Env>
    static consteval auto get_completion_signatures() {
        if constexpr (has_query<Env, get_start_scheduler_t>) {
            return signatures_or_mistake<expanded<Self, Env>, Env>{};
        } else {
            return on_no_way_back{};
        }
    }
    template <class Self, class Receiver>
    static auto connect_as(Self&& self, Receiver&& receiver)
        -> operation_of<expanded<Self, env_of_t<Receiver>>, Receiver> {
        return connect_unchecked(
            expand(self.scheduler, part_of<Self>(self.child), ex::get_env(receiver)),
            static_cast<Receiver&&>(receiver));
    }
    auto get_env() const noexcept { return on_attributes<on_sender, Child>{{ex::get_env(child)}}; }

    [[no_unique_address]] Scheduler scheduler;
    [[no_unique_address]] Child child;
};

/// The attributes of on(child, scheduler, closure), which completes where the child sent its
/// values.
template <class Sender, class Child>
struct on_closure_attributes : attributes_without_completions<env_of_t<const Child&>> {
    using child_attributes = env_of_t<const Child&>;
    using attributes_without_completions<child_attributes>::query;
    using query_origin = get_completion_scheduler_t<set_value_t>;

    template <class Env>
    using origin =
        std::remove_cvref_t<std::invoke_result_t<query_origin, child_attributes, const Env&>>;

    template <class Tag, class Env>
        requires(std::is_invocable_v<query_origin, child_attributes, const Env&> &&
                 delivers_on<Sender, origin<Env>, Tag, Env>())
    constexpr decltype(auto) query(get_completion_scheduler_t<Tag>, const Env& env) const noexcept {
        return query_origin{}(this->env_, env);
    }
    template <class Tag, class Env>
        requires(std::is_invocable_v<query_origin, child_attributes, const Env&> &&
                 answers<child_attributes, completes_where_started_t<set_value_t>, Env> &&
                 delivers_on<Sender, origin<Env>, Tag, Env>())
    static constexpr bool query(completes_where_started_t<Tag>, const Env&) noexcept {
        return true;
    }
    template <class Env>
        requires(std::is_invocable_v<query_origin, child_attributes, const Env&> &&
                 ends_there<origin<Env>, set_error_t, Env>() &&
                 ends_there<origin<Env>, set_stopped_t, Env>())
    static constexpr bool query(completes_in_one_place_t, const Env&) noexcept {
        return true;
    }
};

/// on(child, scheduler, closure): runs the closure's part on the scheduler, and returns to where
/// the child completed.
template <class Child, class Scheduler, class Closure>
struct on_closure_sender : connected_as_it_is<on_closure_sender<Child, Scheduler, Closure>> {
    using sender_concept = sender_tag;

    template <class C, class F, class Env>
    static auto expand(C&& child, const Scheduler& scheduler, F&& closure, const Env& env) {
        auto origin = get_completion_scheduler<set_value_t>(ex::get_env(child), env);
        return continues_on(
            static_cast<F&&>(closure)(continues_on(static_cast<C&&>(child), scheduler)), origin);
    }
    template <class Self, class Env>
    using expanded = decltype(expand(
        std::declval<like_t<Self, Child>>(), std::declval<const Scheduler&>(),
        std::declval<like_t<Self, Closure>>(), std::declval<const std::remove_cvref_t<Env>&>()));

    template <class Self, class Env>
    static consteval auto get_completion_signatures() {
        if constexpr (std::is_invocable_v<get_completion_scheduler_t<set_value_t>,
                                          env_of_t<const Child&>,
                                          const std::remove_cvref_t<Env>&>) {
            return signatures_or_mistake<expanded<Self, Env>, Env>{};
        } else {
            return on_no_origin{};
        }
    }
    template <class Self, class Receiver>
    static auto connect_as(Self&& self, Receiver&& receiver)
        -> operation_of<expanded<Self, env_of_t<Receiver>>, Receiver> {
        return connect_unchecked(expand(part_of<Self>(self.child), self.scheduler,
                                        part_of<Self>(self.closure), ex::get_env(receiver)),
                                 static_cast<Receiver&&>(receiver));
    }
    auto get_env() const noexcept {
        return on_closure_attributes<on_closure_sender, Child>{{ex::get_env(child)}};
    }

    [[no_unique_address]] Child child;
    [[no_unique_address]] Scheduler scheduler;
    [[no_unique_address]] Closure closure;
};

}  // namespace detail

/// Runs a sender or a closure on a scheduler, and returns to where the work came from.
struct on_t {
    template <scheduler Scheduler, sender Sender>
    constexpr auto operator()(Scheduler&& scheduler, Sender&& sender) const {
        return detail::on_sender<std::remove_cvref_t<Scheduler>, std::remove_cvref_t<Sender>>{
            {}, static_cast<Scheduler&&>(scheduler), static_cast<Sender&&>(sender)};
    }
    template <sender Sender, scheduler Scheduler, detail::adaptor_closure Closure>
    constexpr auto operator()(Sender&& sender, Scheduler&& scheduler, Closure&& closure) const {
        return detail::on_closure_sender<std::remove_cvref_t<Sender>,
                                         std::remove_cvref_t<Scheduler>,
                                         std::remove_cvref_t<Closure>>{
            {},
            static_cast<Sender&&>(sender),
            static_cast<Scheduler&&>(scheduler),
            static_cast<Closure&&>(closure)};
    }
    template <scheduler Scheduler, detail::adaptor_closure Closure>
    constexpr auto operator()(Scheduler&& scheduler, Closure&& closure) const {
        return detail::bound_closure(on_t{}, static_cast<Scheduler&&>(scheduler),
                                     static_cast<Closure&&>(closure));
    }
};
inline constexpr on_t on{};

}  // namespace eddy::ex

#endif
