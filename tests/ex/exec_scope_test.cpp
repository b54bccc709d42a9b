#include "support.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace eddy::ex_testing::exec_scope {

static_assert(ex::scope_token<decltype(std::declval<ex::simple_counting_scope&>().get_token())>);
static_assert(ex::scope_token<decltype(std::declval<ex::counting_scope&>().get_token())>);
static_assert(!ex::scope_token<int>);

/// Starts join() and says whether it has completed.
template <class Scope>
class joiner {
    struct receiver {
        using receiver_concept = ex::receiver_tag;
        joiner* self;
        void set_value() noexcept { self->joined = true; }
        void set_stopped() noexcept {}
        auto get_env() const noexcept {
            return ex::prop{ex::get_start_scheduler, ex::inline_scheduler{}};
        }
    };
    ex::connect_result_t<decltype(std::declval<Scope&>().join()), receiver> operation_;

public:
    explicit joiner(Scope& scope) : operation_(ex::connect(scope.join(), receiver{this})) {
        ex::start(operation_);
    }
    bool joined = false;
};

template <class Scope>
class ExecCountingScopes : public ::testing::Test {};
using scopes = ::testing::Types<ex::simple_counting_scope, ex::counting_scope>;
TYPED_TEST_SUITE(ExecCountingScopes, scopes);

TYPED_TEST(ExecCountingScopes, AnUnusedOneNeedsNoJoin) {
    TypeParam scope;
    TypeParam closed;
    closed.close();
    EXPECT_FALSE(closed.get_token().try_associate());
}

TYPED_TEST(ExecCountingScopes, JoinWaitsForTheLastAssociation) {
    TypeParam scope;
    auto first = scope.get_token().try_associate();
    auto second = first.try_associate();
    EXPECT_TRUE(first);
    EXPECT_TRUE(second);
    joiner join(scope);
    first = {};
    EXPECT_FALSE(join.joined);
    second = {};
    EXPECT_TRUE(join.joined);
}

TYPED_TEST(ExecCountingScopes, WithNothingLeftJoinCompletesAtOnce) {
    TypeParam scope;
    { auto association = scope.get_token().try_associate(); }
    joiner join(scope);
    EXPECT_TRUE(join.joined);
    joiner again(scope);
    EXPECT_TRUE(again.joined);
    EXPECT_FALSE(scope.get_token().try_associate()) << "what is joined is closed";
}

TYPED_TEST(ExecCountingScopes, SeveralMayJoin) {
    TypeParam scope;
    auto association = scope.get_token().try_associate();
    joiner first(scope);
    joiner second(scope);
    association = {};
    EXPECT_TRUE(first.joined);
    EXPECT_TRUE(second.joined);
}

TYPED_TEST(ExecCountingScopes, AClosedOneRefuses) {
    TypeParam scope;
    auto association = scope.get_token().try_associate();
    scope.close();
    EXPECT_FALSE(scope.get_token().try_associate());
    EXPECT_FALSE(association.try_associate());
    association = {};
    joiner join(scope);
    EXPECT_TRUE(join.joined);
}

TYPED_TEST(ExecCountingScopes, ThreadsComeAndGoWhileOneJoins) {
    for (int round = 0; round < 200; ++round) {
        TypeParam scope;
        auto keep = scope.get_token().try_associate();
        std::thread other([token = scope.get_token(), kept = std::move(keep)]() mutable {
            for (int i = 0; i < 10; ++i) {
                auto association = token.try_associate();
                auto copy = association.try_associate();
            }
            kept = {};
        });
        EXPECT_TRUE(ex::sync_wait(scope.join()));
        other.join();
    }
}

// spawn

TEST(ExecSpawn, TheWorkRunsAndTheScopeWaitsForIt) {
    ex::simple_counting_scope scope;
    manual_event event;
    int result = 0;
    ex::spawn(event.wait() | ex::then([&](int number) noexcept { result = number; }) |
                  ex::upon_error([](std::error_code) noexcept {}),
              scope.get_token());
    EXPECT_TRUE(event.started());
    joiner join(scope);
    EXPECT_FALSE(join.joined);
    event.value(3);
    EXPECT_EQ(result, 3);
    EXPECT_TRUE(join.joined);
}

TEST(ExecSpawn, AClosedScopeRunsNothing) {
    ex::simple_counting_scope scope;
    scope.close();
    bool ran = false;
    ex::spawn(ex::just() | ex::then([&]() noexcept { ran = true; }), scope.get_token());
    EXPECT_FALSE(ran);
}

TEST(ExecSpawn, AScopeStopsItsWork) {
    ex::counting_scope scope;
    manual_event event;
    ex::spawn(event.wait() | ex::then([](int) noexcept {}) |
                  ex::upon_error([](std::error_code) noexcept {}),
              scope.get_token());
    joiner join(scope);
    scope.request_stop();
    EXPECT_TRUE(event.stop_seen());
    EXPECT_TRUE(join.joined);
}

/// Counts what it gives.
template <class T>
struct counting_allocator {
    using value_type = T;
    int* alive;

    explicit counting_allocator(int* counter) noexcept : alive(counter) {}
    template <class U>
    counting_allocator(const counting_allocator<U>& other) noexcept : alive(other.alive) {}
    T* allocate(std::size_t count) {
        ++*alive;
        return std::allocator<T>().allocate(count);
    }
    void deallocate(T* memory, std::size_t count) noexcept {
        --*alive;
        std::allocator<T>().deallocate(memory, count);
    }
    bool operator==(const counting_allocator&) const = default;
};

TEST(ExecSpawn, UsesTheAllocatorOfTheEnvironment) {
    ex::simple_counting_scope scope;
    manual_event event;
    int alive = 0;
    bool same = false;
    ex::spawn(ex::read_env(ex::get_allocator) |
                  ex::then([&](auto allocator) noexcept { same = allocator.alive == &alive; }) |
                  ex::let_value([&]() noexcept { return event.wait(); }) |
                  ex::then([](int) noexcept {}) | ex::upon_error([](auto&&) noexcept {}),
              scope.get_token(), ex::prop{ex::get_allocator, counting_allocator<int>(&alive)});
    EXPECT_EQ(alive, 1);
    EXPECT_TRUE(same);
    event.value(1);
    EXPECT_EQ(alive, 0);
    joiner join(scope);
    EXPECT_TRUE(join.joined);
}

// spawn_future

TEST(ExecSpawnFuture, TheFutureSendsTheResult) {
    ex::counting_scope scope;
    auto ready = ex::spawn_future(ex::just(1, 2), scope.get_token());
    EXPECT_EQ(run(std::move(ready)).numbers, (std::vector{1, 2}));

    manual_event event;
    auto pending = ex::spawn_future(event.wait(), scope.get_token());
    EXPECT_TRUE(event.started());
    outcome seen;
    auto operation = ex::connect(std::move(pending), probe<>{&seen});
    ex::start(operation);
    EXPECT_EQ(seen.channel, "none");
    event.value(5);
    EXPECT_EQ(seen.numbers, std::vector{5});

    auto failed = ex::spawn_future(ex::just_error(9), scope.get_token());
    EXPECT_EQ(run(std::move(failed)).channel, "error");
    joiner join(scope);
    EXPECT_TRUE(join.joined);
}

TEST(ExecSpawnFuture, ADroppedFutureStopsItsWork) {
    ex::simple_counting_scope scope;
    manual_event event;
    { auto dropped = ex::spawn_future(event.wait(), scope.get_token()); }
    EXPECT_TRUE(event.stop_seen());
    joiner join(scope);
    EXPECT_TRUE(join.joined);
}

TEST(ExecSpawnFuture, AStoppedFutureDoesNotWaitForItsWork) {
    ex::simple_counting_scope scope;
    ex::inplace_stop_source source;
    manual_event event;
    event.disobey();
    outcome seen;
    {
        auto operation = ex::connect(ex::spawn_future(event.wait(), scope.get_token()),
                                     probe<stoppable_env>{&seen, {{}, source.get_token()}});
        ex::start(operation);
        source.request_stop();
        EXPECT_TRUE(event.stop_seen());
        EXPECT_EQ(seen.channel, "stopped");
    }
    joiner join(scope);
    EXPECT_FALSE(join.joined);
    event.value(1);
    EXPECT_TRUE(join.joined);
    EXPECT_EQ(seen.completions, 1);
}

TEST(ExecSpawnFuture, AClosedScopeGivesAStoppedFuture) {
    ex::simple_counting_scope scope;
    scope.close();
    EXPECT_EQ(run(ex::spawn_future(ex::just(1), scope.get_token())).channel, "stopped");
}

TEST(ExecSpawnFuture, StopCompletionAndDropRace) {
    ex::run_loop loop;
    std::thread thread([&] { loop.run(); });
    for (int round = 0; round < 300; ++round) {
        ex::counting_scope scope;
        ex::inplace_stop_source source;
        std::thread stopper([&] { source.request_stop(); });
        {
            auto future = ex::spawn_future(
                ex::schedule(loop.get_scheduler()) | ex::then([=]() noexcept { return round; }),
                scope.get_token());
            if (round % 3 != 0) {
                auto result = ex::sync_wait(ex::write_env(
                    std::move(future), ex::prop{ex::get_stop_token, source.get_token()}));
                if (result) {
                    EXPECT_EQ(std::get<0>(*result), round);
                }
            }
        }
        stopper.join();
        ex::sync_wait(scope.join());
    }
    loop.finish();
    thread.join();
}

// associate

TEST(ExecAssociate, TheScopeWaitsForTheSenderAndItsOperation) {
    ex::simple_counting_scope scope;
    std::optional sender(ex::associate(ex::just(4), scope.get_token()));
    static_assert(sends<decltype(ex::associate(ex::just(4), scope.get_token())),
                        ex::set_value_t(int), ex::set_stopped_t()>);
    joiner join(scope);
    EXPECT_FALSE(join.joined);
    {
        outcome seen;
        auto operation = ex::connect(std::move(*sender), probe<>{&seen});
        sender.reset();
        EXPECT_FALSE(join.joined);
        ex::start(operation);
        EXPECT_EQ(seen.numbers, std::vector{4});
    }
    EXPECT_TRUE(join.joined);
}

TEST(ExecAssociate, UnderAClosedScopeItIsStopped) {
    ex::simple_counting_scope scope;
    scope.close();
    EXPECT_EQ(run(ex::just(4) | ex::associate(scope.get_token())).channel, "stopped");
}

TEST(ExecAssociate, ItIsStoppedWithItsScope) {
    ex::counting_scope scope;
    manual_event event;
    outcome seen;
    {
        auto operation =
            ex::connect(event.wait() | ex::associate(scope.get_token()), probe<>{&seen});
        ex::start(operation);
        scope.request_stop();
    }
    EXPECT_EQ(seen.channel, "stopped");
    joiner join(scope);
    EXPECT_TRUE(join.joined);
}

}  // namespace eddy::ex_testing::exec_scope
