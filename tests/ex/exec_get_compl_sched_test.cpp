// SPDX-License-Identifier: Apache-2.0
#include "other_thread.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>

namespace eddy::ex_testing::exec_get_compl_sched {

using loop_scheduler = decltype(std::declval<ex::run_loop&>().get_scheduler());
using on_a_loop = ex::prop<ex::get_start_scheduler_t, loop_scheduler>;

template <class Tag, class Sender, class... Env>
inline constexpr bool is_known =
    std::is_invocable_v<ex::get_completion_scheduler_t<Tag>, ex::env_of_t<Sender>, const Env&...>;

/// `sender` completes with `Tag` on the loop, if it is started in `env`.
template <class Tag, class Sender, class Env>
bool completes_on(ex::run_loop& loop, const Sender& sender, const Env& env) {
    if constexpr (is_known<Tag, Sender, Env>) {
        return ex::get_completion_scheduler<Tag>(ex::get_env(sender), env) == loop.get_scheduler();
    } else {
        return false;
    }
}

constexpr auto quiet = [](auto&&...) noexcept { return 1; };
constexpr auto loud = [](auto&&...) { return 1; };
constexpr auto just_one = [](auto&...) noexcept { return ex::just(1); };

/// Sends in every way; its values and its errors are sent on schedulers that it is given.
template <class Values, class Errors>
struct spread_sender {
    using sender_concept = ex::sender_tag;
    Values values;
    Errors errors;

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<ex::set_value_t(int), ex::set_error_t(int)>{};
    }
    struct attributes {
        Values values;
        Errors errors;
        Values query(ex::get_completion_scheduler_t<ex::set_value_t>) const noexcept {
            return values;
        }
        Errors query(ex::get_completion_scheduler_t<ex::set_error_t>) const noexcept {
            return errors;
        }
    };
    attributes get_env() const noexcept { return {values, errors}; }

    template <class Receiver>
    struct operation {
        using operation_state_concept = ex::operation_state_tag;
        Receiver receiver;
        void start() & noexcept { ex::set_value(std::move(receiver), 1); }
    };
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const noexcept {
        return operation<Receiver>{std::move(receiver)};
    }
};

TEST(ExecGetComplSched, WhatCompletesInsideStartCompletesWhereItWasStarted) {
    ex::run_loop loop;
    const on_a_loop env{{}, loop.get_scheduler()};
    EXPECT_TRUE(completes_on<ex::set_value_t>(loop, ex::just(1), env));
    EXPECT_TRUE(completes_on<ex::set_error_t>(loop, ex::just_error(1), env));
    EXPECT_TRUE(completes_on<ex::set_stopped_t>(loop, ex::just_stopped(), env));
    EXPECT_TRUE(completes_on<ex::set_value_t>(loop, ex::read_env(ex::get_stop_token), env));
    EXPECT_TRUE(completes_on<ex::set_value_t>(loop, ex::just(1) | ex::then(quiet), env));
    EXPECT_TRUE(completes_on<ex::set_value_t>(loop, ex::schedule(ex::inline_scheduler{}), env));
}

TEST(ExecGetComplSched, IsKnownAfterOn) {
    ex::run_loop home;
    ex::run_loop away;
    const on_a_loop env{{}, home.get_scheduler()};
    const auto there = ex::on(away.get_scheduler(), ex::just(1));
    EXPECT_TRUE(completes_on<ex::set_value_t>(home, there, env));
    EXPECT_TRUE(completes_on<ex::set_value_t>(home, there | ex::then(quiet), env));
    static_assert(!is_known<ex::set_value_t, decltype(there), ex::env<>>, "there is no way back");
}

TEST(ExecGetComplSched, IsThatOfTheChildAfterThen) {
    ex::run_loop loop;
    const auto scheduled = ex::schedule(loop.get_scheduler()) | ex::then(quiet);
    EXPECT_TRUE(completes_on<ex::set_value_t>(loop, scheduled, ex::env<>{}));
    EXPECT_TRUE(ex::get_completion_scheduler<ex::set_value_t>(ex::get_env(scheduled)) ==
                loop.get_scheduler());
}

// What follows is not in stdexec: there, adaptors pass on what their child says.
#if EDDY_EX_BUILTIN

template <class Tag, class Sender, class Env>
inline constexpr bool sends_nothing_like = !is_known<Tag, Sender, Env>;
static_assert(sends_nothing_like<ex::set_error_t, decltype(ex::just(1)), on_a_loop>);
static_assert(sends_nothing_like<ex::set_stopped_t, decltype(ex::just(1)), on_a_loop>);
static_assert(sends_nothing_like<ex::set_value_t, decltype(ex::just_error(1)), on_a_loop>);
static_assert(
    sends_nothing_like<ex::set_error_t, ex::schedule_result_t<loop_scheduler>, ex::env<>>);
static_assert(
    sends_nothing_like<ex::set_error_t, ex::schedule_result_t<ex::inline_scheduler>, on_a_loop>);
static_assert(!std::is_invocable_v<ex::get_completion_scheduler_t<ex::set_error_t>, loop_scheduler>,
              "a run_loop sends no errors");
static_assert(is_known<ex::set_stopped_t, ex::schedule_result_t<loop_scheduler>>);

TEST(ExecGetComplSched, IsKnownAfterAPartOfAChainOnAnotherScheduler) {
    ex::run_loop home;
    ex::run_loop away;
    const on_a_loop env{{}, home.get_scheduler()};
    const auto part = ex::just(1) | ex::on(away.get_scheduler(), ex::then(quiet));
    EXPECT_TRUE(completes_on<ex::set_value_t>(home, part, env));
    const auto elsewhere =
        ex::schedule(away.get_scheduler()) | ex::on(home.get_scheduler(), ex::then(quiet));
    EXPECT_TRUE(completes_on<ex::set_value_t>(away, elsewhere, env));
}

TEST(ExecGetComplSched, IsKnownAfterLetIfTheSecondSenderCompletesWhereItIsStarted) {
    ex::run_loop home;
    ex::run_loop away;
    const on_a_loop env{{}, home.get_scheduler()};
    EXPECT_TRUE(completes_on<ex::set_value_t>(home, ex::just() | ex::let_value(just_one), env));
    const auto scheduled = ex::schedule(away.get_scheduler()) | ex::let_value(just_one);
    EXPECT_TRUE(completes_on<ex::set_value_t>(away, scheduled, env));
    EXPECT_TRUE(completes_on<ex::set_stopped_t>(away, scheduled, stoppable_env{}));
    const auto and_back =
        ex::schedule(away.get_scheduler()) |
        ex::let_value([to = home.get_scheduler()]() noexcept { return ex::on(to, ex::just(1)); });
    EXPECT_TRUE(completes_on<ex::set_value_t>(away, and_back, env));
    const auto hop = [to = home.get_scheduler()](auto&...) noexcept { return ex::schedule(to); };
    static_assert(!is_known<ex::set_value_t, decltype(ex::just() | ex::let_value(hop)), on_a_loop>,
                  "the second sender does not exist yet");
    const auto fail = [](auto&...) -> decltype(ex::just(1)) { throw 1; };
    EXPECT_TRUE(completes_on<ex::set_error_t>(home, ex::just() | ex::let_value(fail), env));
}

TEST(ExecGetComplSched, IsKnownAfterStoppedAs) {
    ex::run_loop home;
    ex::run_loop away;
    const on_a_loop env{{}, home.get_scheduler()};
    EXPECT_TRUE(completes_on<ex::set_value_t>(home, ex::just(1) | ex::stopped_as_optional(), env));
    EXPECT_TRUE(completes_on<ex::set_value_t>(home, ex::just(1) | ex::stopped_as_error(2), env));
    EXPECT_TRUE(
        completes_on<ex::set_error_t>(home, ex::just_stopped() | ex::stopped_as_error(2), env));
    const auto scheduled = ex::schedule(away.get_scheduler()) | ex::then(quiet);
    const stoppable_env stoppable{};
    EXPECT_TRUE(
        completes_on<ex::set_value_t>(away, scheduled | ex::stopped_as_optional(), stoppable));
    EXPECT_TRUE(
        completes_on<ex::set_value_t>(away, scheduled | ex::stopped_as_error(2), stoppable));
    EXPECT_TRUE(
        completes_on<ex::set_error_t>(away, scheduled | ex::stopped_as_error(2), stoppable));
}

TEST(ExecGetComplSched, OnFindsTheWayBackBehindOtherAdaptors) {
    other_thread thread;
    const auto part = [&] { return ex::on(thread.get_scheduler(), ex::then(here)); };
    const auto back = [](auto& id) noexcept { return ex::just(id, here()); };
    const auto check = [&](auto sender) {
        auto [there, home] = ex::sync_wait(std::move(sender) | ex::let_value(back)).value();
        EXPECT_EQ(there, thread.id());
        EXPECT_EQ(home, std::this_thread::get_id());
    };
    const auto drop = ex::then([](auto&&...) noexcept {});
    check(ex::just() | ex::let_value([]() noexcept { return ex::just(); }) | part());
    check(ex::on(thread.get_scheduler(), ex::just()) | part());
    check(ex::just(1) | ex::stopped_as_optional() | drop | part());
    check(ex::just() | ex::stopped_as_error(std::error_code()) | part());
    check(ex::just(1) | ex::into_variant() | drop | part());
}

TEST(ExecGetComplSched, TheErrorsOfAThenThatThrowsAreKnownIfItsChildSendsNone) {
    ex::run_loop loop;
    const auto scheduled = ex::schedule(loop.get_scheduler()) | ex::then(loud);
    EXPECT_TRUE(completes_on<ex::set_value_t>(loop, scheduled, ex::env<>{}));
    EXPECT_TRUE(completes_on<ex::set_error_t>(loop, scheduled, ex::env<>{}));
    EXPECT_TRUE(completes_on<ex::set_error_t>(loop, scheduled | ex::then(loud), ex::env<>{}));
    static_assert(!is_known<ex::set_error_t, decltype(ex::just() | ex::then(quiet)), on_a_loop>);
}

using apart = spread_sender<loop_scheduler, ex::inline_scheduler>;
using perhaps_apart = spread_sender<loop_scheduler, loop_scheduler>;
struct only_scheduler : ex::inline_scheduler {
    using scheduler_concept = ex::scheduler_tag;
    auto schedule() const noexcept { return ex::just(); }
    static constexpr auto query(ex::get_forward_progress_guarantee_t) noexcept {
        return ex::forward_progress_guarantee::parallel;
    }
    bool operator==(const only_scheduler&) const = default;
};
using together = spread_sender<only_scheduler, only_scheduler>;

template <class Tag, class Child, class Function>
inline constexpr bool known_after_then =
    is_known<Tag, decltype(std::declval<Child>() | ex::then(std::declval<Function>())), ex::env<>>;
template <class Tag, class Child>
inline constexpr bool known_after_upon_error =
    is_known<Tag, decltype(std::declval<Child>() | ex::upon_error(quiet)), ex::env<>>;

static_assert(known_after_then<ex::set_error_t, apart, decltype(quiet)>);
static_assert(!known_after_then<ex::set_error_t, apart, decltype(loud)>);
static_assert(!known_after_then<ex::set_error_t, perhaps_apart, decltype(loud)>,
              "two schedulers of a type may differ");
static_assert(known_after_then<ex::set_error_t, together, decltype(loud)>);
static_assert(known_after_then<ex::set_value_t, apart, decltype(loud)>);

static_assert(!known_after_upon_error<ex::set_value_t, apart>);
static_assert(!known_after_upon_error<ex::set_value_t, perhaps_apart>);
static_assert(known_after_upon_error<ex::set_value_t, together>);
static_assert(!known_after_upon_error<ex::set_error_t, together>, "it sends none");

TEST(ExecGetComplSched, ValuesOfUponErrorAreKnownIfTheyHaveOneSource) {
    ex::run_loop home;
    ex::run_loop away;
    const on_a_loop env{{}, home.get_scheduler()};
    EXPECT_TRUE(
        completes_on<ex::set_value_t>(home, ex::just_error(1) | ex::upon_error(quiet), env));
    EXPECT_TRUE(completes_on<ex::set_value_t>(home, ex::just(1) | ex::upon_error(quiet), env));
    const auto both = ex::just() | ex::then(loud) | ex::continues_on(away.get_scheduler());
    EXPECT_TRUE(completes_on<ex::set_error_t>(away, both, env));
    EXPECT_TRUE(completes_on<ex::set_value_t>(away, both | ex::upon_error(quiet), env));
    EXPECT_TRUE(completes_on<ex::set_error_t>(away, both | ex::then(loud), env));
    const auto started = ex::starts_on(away.get_scheduler(), ex::just() | ex::then(loud));
    EXPECT_TRUE(completes_on<ex::set_error_t>(away, started, env));
    EXPECT_TRUE(completes_on<ex::set_stopped_t>(away, started, stoppable_env{}));
}

/// A scheduler whose work completes on another one.
struct forwarding_scheduler {
    using scheduler_concept = ex::scheduler_tag;
    ex::run_loop* loop;
    auto schedule() const noexcept { return ex::schedule(loop->get_scheduler()); }
    static constexpr auto query(ex::get_forward_progress_guarantee_t) noexcept {
        return ex::forward_progress_guarantee::parallel;
    }
    auto query(ex::get_completion_scheduler_t<ex::set_value_t>) const noexcept {
        return loop->get_scheduler();
    }
    bool operator==(const forwarding_scheduler&) const = default;
};

TEST(ExecGetComplSched, TheLastSchedulerOfAChainIsMeant) {
    ex::run_loop loop;
    const ex::prop attributes{ex::get_completion_scheduler<ex::set_value_t>,
                              forwarding_scheduler{&loop}};
    EXPECT_TRUE(ex::get_completion_scheduler<ex::set_value_t>(attributes) == loop.get_scheduler());
}

#endif

}  // namespace eddy::ex_testing::exec_get_compl_sched
