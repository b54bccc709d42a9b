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
inline namespace builtin {

namespace detail {

EDDY_EX_MISTAKE(on_no_way_back,
                "on: the environment has no start scheduler (get_start_scheduler) to come back to");
EDDY_EX_MISTAKE(
    on_no_origin,
    "on: it is not known where the sender completes (get_completion_scheduler), so there "
    "is no way back");

/// on(scheduler, child): there, and back to where it was started.
template <class Scheduler, class Child>
struct on_sender {
    using sender_concept = sender_tag;

    template <class C, class Env>
    static auto expand(const Scheduler& scheduler, C&& child, const Env& env) {
        return continues_on(starts_on(scheduler, static_cast<C&&>(child)),
                            get_start_scheduler(env));
    }

    template <class Self, class Env>
    static consteval auto get_completion_signatures() {
        if constexpr (has_query<Env, get_start_scheduler_t>) {
            using expanded = decltype(expand(std::declval<const Scheduler&>(),
                                             std::declval<like_t<Self, Child>>(),
                                             std::declval<const std::remove_cvref_t<Env>&>()));
            return signatures_or_mistake<expanded, Env>{};
        } else {
            return on_no_way_back{};
        }
    }
    template <receiver Receiver>
    auto connect(Receiver receiver) && {
        return connect_unchecked(
            expand(scheduler, static_cast<Child&&>(child), ex::get_env(receiver)),
            static_cast<Receiver&&>(receiver));
    }
    template <receiver Receiver>
    auto connect(Receiver receiver) const& {
        return connect_unchecked(expand(scheduler, child, ex::get_env(receiver)),
                                 static_cast<Receiver&&>(receiver));
    }
    auto get_env() const noexcept { return detail::without_completions(ex::get_env(child)); }

    [[no_unique_address]] Scheduler scheduler;
    [[no_unique_address]] Child child;
};

/// on(child, scheduler, closure): there for the closure's part, and back to where the child
/// completed.
template <class Child, class Scheduler, class Closure>
struct on_closure_sender {
    using sender_concept = sender_tag;

    template <class C, class F, class Env>
    static auto expand(C&& child, const Scheduler& scheduler, F&& closure, const Env& env) {
        auto origin = get_completion_scheduler<set_value_t>(ex::get_env(child), env);
        return continues_on(
            static_cast<F&&>(closure)(continues_on(static_cast<C&&>(child), scheduler)), origin);
    }

    template <class Self, class Env>
    static consteval auto get_completion_signatures() {
        if constexpr (std::is_invocable_v<get_completion_scheduler_t<set_value_t>,
                                          env_of_t<const Child&>,
                                          const std::remove_cvref_t<Env>&>) {
            using expanded = decltype(expand(std::declval<like_t<Self, Child>>(),
                                             std::declval<const Scheduler&>(),
                                             std::declval<like_t<Self, Closure>>(),
                                             std::declval<const std::remove_cvref_t<Env>&>()));
            return signatures_or_mistake<expanded, Env>{};
        } else {
            return on_no_origin{};
        }
    }
    template <receiver Receiver>
    auto connect(Receiver receiver) && {
        return connect_unchecked(expand(static_cast<Child&&>(child), scheduler,
                                        static_cast<Closure&&>(closure), ex::get_env(receiver)),
                                 static_cast<Receiver&&>(receiver));
    }
    template <receiver Receiver>
    auto connect(Receiver receiver) const& {
        return connect_unchecked(expand(child, scheduler, closure, ex::get_env(receiver)),
                                 static_cast<Receiver&&>(receiver));
    }
    auto get_env() const noexcept { return detail::without_completions(ex::get_env(child)); }

    [[no_unique_address]] Child child;
    [[no_unique_address]] Scheduler scheduler;
    [[no_unique_address]] Closure closure;
};

}  // namespace detail

/// Runs something on a scheduler and comes back.
struct on_t {
    template <scheduler Scheduler, sender Sender>
    constexpr auto operator()(Scheduler&& scheduler, Sender&& sender) const {
        return detail::on_sender<std::remove_cvref_t<Scheduler>, std::remove_cvref_t<Sender>>{
            static_cast<Scheduler&&>(scheduler), static_cast<Sender&&>(sender)};
    }
    template <sender Sender, scheduler Scheduler, detail::adaptor_closure Closure>
    constexpr auto operator()(Sender&& sender, Scheduler&& scheduler, Closure&& closure) const {
        return detail::on_closure_sender<std::remove_cvref_t<Sender>,
                                         std::remove_cvref_t<Scheduler>,
                                         std::remove_cvref_t<Closure>>{
            static_cast<Sender&&>(sender), static_cast<Scheduler&&>(scheduler),
            static_cast<Closure&&>(closure)};
    }
    template <scheduler Scheduler, detail::adaptor_closure Closure>
    constexpr auto operator()(Scheduler&& scheduler, Closure&& closure) const {
        return detail::bound_closure(on_t{}, static_cast<Scheduler&&>(scheduler),
                                     static_cast<Closure&&>(closure));
    }
};
inline constexpr on_t on{};

}  // namespace builtin
}  // namespace eddy::ex

#endif
