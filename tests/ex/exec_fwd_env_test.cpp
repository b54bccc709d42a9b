// SPDX-License-Identifier: Apache-2.0
#include "queries.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

#include <coroutine>
#include <execution>
#include <functional>
#include <type_traits>
#include <utility>

/// What an environment or the attributes of a sender answer arrives as it was given, behind
/// whatever adaptors: a reference refers to the same object, and a value is a value.
namespace eddy::ex_testing::exec_fwd_env {

struct answer {
    int number = 1;
};

/// Answers as an `Answer`: `kept`, or a copy of it.
template <class Answer>
struct replies {
    answer* kept;
    Answer query(get_name_t) const noexcept { return static_cast<Answer>(*kept); }
};

template <class Env>
using answer_of_t = decltype(get_name(std::declval<const Env&>()));

// Environments of environments.

template <class Answer>
inline constexpr bool is_kept_by_envs =
    std::is_same_v<answer_of_t<ex::env<replies<Answer>>>, Answer> &&
    std::is_same_v<answer_of_t<ex::env<replies<Answer>&>>, Answer> &&
    std::is_same_v<answer_of_t<ex::env<ex::env<replies<Answer>>>>, Answer> &&
    std::is_same_v<answer_of_t<ex::env<ex::prop<get_secret_t, int>, replies<Answer>>>, Answer> &&
    std::is_same_v<answer_of_t<ex::env<ex::env<>, const replies<Answer>&, replies<int>>>, Answer>;
static_assert(is_kept_by_envs<const answer&>);
static_assert(is_kept_by_envs<answer&>);
static_assert(is_kept_by_envs<answer>);
static_assert(is_kept_by_envs<const answer>);
static_assert(is_kept_by_envs<answer&&>);

static_assert(std::is_same_v<answer_of_t<ex::prop<get_name_t, answer>>, const answer&>);
static_assert(std::is_same_v<answer_of_t<ex::prop<get_name_t, const answer>>, const answer&>);
static_assert(std::is_same_v<answer_of_t<ex::prop<get_name_t, answer&>>, answer&>);
static_assert(std::is_same_v<answer_of_t<ex::prop<get_name_t, const answer&>>, const answer&>);

TEST(ExecFwdEnv, AnAnswerOfAnEnvironmentIsTheObjectOfItsPart) {
    answer kept;
    const ex::env both{ex::prop{get_secret, 1}, ex::prop{get_name, std::ref(kept)}};
    EXPECT_EQ(&get_name(both), &kept);
    const ex::env owner{ex::prop{get_name, answer{3}}};
    EXPECT_EQ(&get_name(owner), &get_name(owner));
    EXPECT_EQ(get_name(owner).number, 3);
}

// Behind adaptors.

struct report {
    bool is_exact = false;
    const answer* object = nullptr;
};

/// Asks the receiver for its name, reports whether that is exactly an `Answer`, and sends the same
/// as a type.
template <class Answer>
struct asks {
    using sender_concept = ex::sender_tag;
    report* reported;

    template <class Env>
    using is_exact = std::bool_constant<std::is_same_v<answer_of_t<Env>, Answer>>;

    template <class Self, class Env>
        requires std::is_invocable_v<get_name_t, const Env&>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<ex::set_value_t(is_exact<Env>)>{};
    }
    template <class Receiver>
    struct operation {
        using operation_state_concept = ex::operation_state_tag;
        Receiver receiver;
        report* reported;
        void start() & noexcept {
            using env = ex::env_of_t<Receiver>;
            reported->is_exact = is_exact<env>::value;
            if constexpr (std::is_lvalue_reference_v<answer_of_t<env>>) {
                reported->object = &get_name(ex::get_env(receiver));
            }
            ex::set_value(std::move(receiver), is_exact<env>());
        }
    };
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const noexcept {
        return operation<Receiver>{std::move(receiver), reported};
    }
    struct attributes {
        static constexpr ex::inline_scheduler query(
            ex::get_completion_scheduler_t<ex::set_value_t>) noexcept {
            return {};
        }
    };
    static constexpr attributes get_env() noexcept { return {}; }
};

constexpr auto seq = std::execution::seq;
constexpr ex::inline_scheduler here{};
constexpr auto pass = [](auto value) noexcept { return value; };
constexpr auto pass_on = [](auto... values) noexcept { return ex::just(values...); };
constexpr auto ignore = [](auto&&...) noexcept {};

/// Calls `check` with each adaptor of `child` that passes on a value, behind an environment or not.
template <class Child, class Check>
void for_each_adaptor(const Child& child, Check check) {
    check(child);
    check(child | ex::then(pass));
    check(child | ex::upon_error(ignore));
    check(child | ex::upon_stopped(pass_on));
    check(child | ex::let_value(pass_on));
    check(child | ex::let_error(pass_on));
    check(child | ex::let_stopped(pass_on));
    check(child | ex::bulk(seq, 1, ignore));
    check(child | ex::bulk_chunked(seq, 1, ignore));
    check(child | ex::bulk_unchunked(seq, 1, ignore));
    check(child | ex::stopped_as_error(1));
    check(child | ex::continues_on(here));
    check(ex::schedule_from(child));
    check(ex::starts_on(here, child));
    check(ex::on(here, child));
    check(child | ex::on(here, ex::then(pass)));
    check(ex::write_env(child, ex::env<>{}));
    check(ex::write_env(child, ex::prop{get_secret, 1}));
    check(child | ex::unstoppable);
    check(child | ex::unstoppable | ex::then(pass) | ex::upon_error(ignore));
}

template <class Answer>
void check_environments() {
    report reported;
    answer kept;
    const ex::env env{replies<Answer>{&kept}, ex::prop{ex::get_start_scheduler, here}};
    using outer = std::remove_const_t<decltype(env)>;
    const auto check = [&]<class Sender>(const Sender& sender) {
        reported = {};
        EXPECT_EQ(run(sender, env).channel, "value");
        EXPECT_TRUE(reported.is_exact);
        if (std::is_lvalue_reference_v<Answer>) {
            EXPECT_EQ(reported.object, &kept);
        }
    };
    const asks<Answer> child{&reported};
    for_each_adaptor(child, check);
    for_each_adaptor(child, []<class Sender>(const Sender&) {
        EXPECT_TRUE((sends_in<Sender, outer, ex::set_value_t(std::true_type)>));
    });
    check(child | ex::into_variant());
    check(child | ex::stopped_as_optional());
    check(ex::when_all(child, ex::just()));
    check(ex::when_all_with_variant(child, ex::just()));
    ex::counting_scope scope;
    check(ex::associate(child, scope.get_token()));
    check(ex::just() | ex::let_value([&] { return child; }));
    check(ex::just_error(1) | ex::let_error([&](int) { return child; }));
    check(ex::just_stopped() | ex::let_stopped([&] { return child; }));
    check(ex::write_env(child, replies<Answer>{&kept}));
    run(scope.join(), env);
}

TEST(ExecFwdEnv, AReferenceInAnEnvironmentStaysOne) {
    check_environments<const answer&>();
    check_environments<answer&>();
}

TEST(ExecFwdEnv, AValueInAnEnvironmentStaysOne) { check_environments<answer>(); }

// A receiver whose environment is an object of its own.

struct owner {
    using receiver_concept = ex::receiver_tag;
    struct environment {
        answer name;
        environment() = default;
        environment(environment&&) noexcept {}
        const answer& query(get_name_t) const noexcept { return name; }
    };
    const environment* kept;
    bool* same_object;

    void set_value(const answer* seen) noexcept { *same_object = seen == &kept->name; }
    void set_value(auto&&...) noexcept {}
    void set_error(auto&&) noexcept {}
    void set_stopped() noexcept {}
    const environment& get_env() const noexcept { return *kept; }
};

/// An awaitable whose result is the address of the name in the environment of its coroutine.
struct awaits_name {
    const answer* found = nullptr;
    static constexpr bool await_ready() noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) noexcept {
        found = &get_name(ex::get_env(waiting.promise()));
        return false;
    }
    const answer* await_resume() const noexcept { return found; }
};

TEST(ExecFwdEnv, ACoroutineThatAwaitsForAReceiverHasTheEnvironmentOfThat) {
    const owner::environment env;
    bool same_object = false;
    auto operation = ex::connect(awaits_name(), owner{&env, &same_object});
    ex::start(operation);
    EXPECT_TRUE(same_object);
}

// In stdexec starts_on hides the attributes of its child, and the place is copied.
#if EDDY_EX_BUILTIN

/// A sender whose attributes have a name.
template <class Answer>
struct named {
    using sender_concept = ex::sender_tag;
    answer* kept;

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<ex::set_value_t(int)>{};
    }
    struct attributes : replies<Answer> {
        using replies<Answer>::query;
        static constexpr ex::inline_scheduler query(
            ex::get_completion_scheduler_t<ex::set_value_t>) noexcept {
            return {};
        }
    };
    attributes get_env() const noexcept { return {{kept}}; }
};

template <class Answer>
void check_attributes() {
    answer kept;
    for_each_adaptor(named<Answer>{&kept}, [&]<class Sender>(const Sender& sender) {
        using seen = decltype(get_name(ex::get_env(sender)));
        EXPECT_TRUE((std::is_same_v<seen, Answer>));
        if constexpr (std::is_lvalue_reference_v<seen>) {
            EXPECT_EQ(&get_name(ex::get_env(sender)), &kept);
        }
    });
}

TEST(ExecFwdEnv, AReferenceInAttributesStaysOne) {
    check_attributes<const answer&>();
    check_attributes<answer&>();
}

TEST(ExecFwdEnv, AValueInAttributesStaysOne) { check_attributes<answer>(); }

// Where a sender completes.

struct place : ex::inline_scheduler {
    using scheduler_concept = ex::scheduler_tag;
    bool operator==(const place&) const noexcept { return true; }
};
struct placed : named<answer> {
    struct attributes {
        const place* where;
        const place& query(ex::get_completion_scheduler_t<ex::set_value_t>) const noexcept {
            return *where;
        }
    };
    const place* where;
    attributes get_env() const noexcept { return {where}; }
};

TEST(ExecFwdEnv, ThePlaceWhereAnAdaptorCompletesIsTheOneThatItsChildNames) {
    const place where;
    const auto check = [&](const auto& sender) {
        EXPECT_EQ(&ex::get_completion_scheduler<ex::set_value_t>(ex::get_env(sender)), &where);
    };
    const placed child{{nullptr}, &where};
    check(child);
    check(child | ex::then(pass));
    check(ex::schedule_from(child));
    check(child | ex::let_error(pass_on));
    check(child | ex::bulk(seq, 1, ignore) | ex::into_variant());
}

#endif

}  // namespace eddy::ex_testing::exec_fwd_env
