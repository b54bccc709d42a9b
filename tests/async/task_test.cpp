// SPDX-License-Identifier: Apache-2.0
#include "async/running.hpp"
#include "async/task_fixture.hpp"

#include <eddy/async/as_result.hpp>
#include <eddy/async/event.hpp>
#include <eddy/async/retry.hpp>
#include <eddy/async/task.hpp>
#include <eddy/async/timeout.hpp>
#include <eddy/io/io_sender.hpp>
#include <eddy/io/run.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <pthread.h>

namespace eddy::test::task_test {
namespace {

class Task : public TaskTest {};
EDDY_ON_EVERY_ENGINE(Task);

const std::error_code refused = std::make_error_code(std::errc::connection_refused);

task<int> answer() { co_return 42; }
task<> nothing() { co_return; }
task<std::unique_ptr<int>> only_moved() { co_return std::make_unique<int>(3); }
task<int> twice(task<int> what) { co_return 2 * co_await std::move(what); }

TEST_P(Task, CompletesWithWhatItReturns) {
    EXPECT_EQ(value_of(answer()), 42);
    EXPECT_EQ(value_of(twice(twice(answer()))), 168);
    EXPECT_EQ(*value_of(only_moved()), 3);
    EXPECT_TRUE(loop().run(nothing()));
}

TEST_P(Task, DoesNothingUntilItIsStarted) {
    bool began = false;
    const auto body = [&]() -> task<> {
        began = true;
        co_return;
    };
    { const task<> never = body(); }
    EXPECT_FALSE(began);
}

TEST_P(Task, IsGivenTheValuesOfSenders) {
    const auto body = []() -> task<std::string> {
        co_await ex::just();
        const int one = co_await ex::just(1);
        auto [two, text] = co_await ex::just(2, std::string("three"));
        co_return std::to_string(one + two) + text;
    };
    EXPECT_EQ(value_of(body()), "3three");
}

TEST_P(Task, ThrowsTheErrorsOfSenders) {
    const auto body = []() -> task<std::string> {
        std::string seen;
        try {
            co_await ex::just_error(refused);
        } catch (const std::system_error& error) {
            seen += error.code() == refused ? "c" : "?";
        }
        try {
            co_await ex::just_error(std::make_exception_ptr(std::out_of_range("far")));
        } catch (const std::out_of_range&) {
            seen += "e";
        }
        try {
            co_await ex::just_error(7);
        } catch (int number) {
            seen += number == 7 ? "n" : "?";
        }
        co_return seen;
    };
    EXPECT_EQ(value_of(body()), "cen");
}

TEST_P(Task, ThrowsThroughTheTasksThatAwaitIt) {
    const auto fails = []() -> task<int> {
        co_await ex::just();
        throw std::domain_error("deep");
    };
    EXPECT_THROW(value_of(twice(twice(fails()))), std::domain_error);
    const auto fails_with_code = [](loop_scheduler home) -> task<int> {
        co_await home.schedule();
        co_await ex::just_error(refused);
        co_return 0;
    };
    try {
        value_of(twice(fails_with_code(loop().get_scheduler())));
        FAIL();
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), refused);
    }
}

struct throws_when_moved {
    explicit throws_when_moved(int* moves) : left(moves) {}
    throws_when_moved(throws_when_moved&& other) : left(other.left) {
        if (--*left < 0) {
            throw std::length_error("moved");
        }
    }
    int* left;
};

TEST_P(Task, TellsOfAValueThatCannotBeMovedAtAnyStage) {
    int thrown = 0;
    for (int moves = 0; moves < 6; ++moves) {
        int left = moves;
        const auto body = [&]() -> task<throws_when_moved> { co_return throws_when_moved(&left); };
        const auto outer = [&]() -> task<> { static_cast<void>(co_await body()); };
        try {
            left = moves;
            static_cast<void>(loop().run(body()));
        } catch (const std::length_error&) {
            ++thrown;
        }
        try {
            left = moves;
            static_cast<void>(loop().run(outer()));
        } catch (const std::length_error&) {
            ++thrown;
        }
    }
    EXPECT_GE(thrown, 3);
}

TEST_P(Task, EndsStoppedWithWhatItAwaitsAndRunsNoCodeButDestructors) {
    std::string trace;
    const auto inner = [&]() -> task<> {
        const at_exit leave([&] { trace += "i"; });
        co_await ex::just_stopped();
        trace += "!";
    };
    const auto middle = [&]() -> task<> {
        const at_exit leave([&] { trace += "m"; });
        try {
            co_await inner();
        } catch (...) {
            trace += "!";
        }
        trace += "!";
    };
    const auto outer = [&](bool hop) -> task<> {
        const at_exit leave([&] { trace += "o"; });
        if (hop) {
            co_await loop().get_scheduler().schedule();
        }
        co_await middle();
        trace += "!";
    };
    for (const bool hop : {false, true}) {
        trace.clear();
        EXPECT_FALSE(loop().run(outer(hop)));
        EXPECT_EQ(trace, "imo");
    }
}

TEST_P(Task, IsStoppedWhileItWaits) {
    std::string trace;
    const auto inner = [&]() -> task<> {
        const at_exit leave([&] { trace += "i"; });
        co_await loop().get_scheduler().schedule_after(1h);
        trace += "!";
    };
    const auto outer = [&]() -> task<> {
        const at_exit leave([&] { trace += "o"; });
        co_await inner();
        trace += "!";
    };
    for (const bool elsewhere : {false, true}) {
        trace.clear();
        auto r = std::make_unique<running<task<>>>(outer());
        std::thread other;
        loop().post([&] {
            r->start();
            if (elsewhere) {
                other = std::thread([&] { r->stop(); });
            } else {
                r->stop();
            }
        });
        ASSERT_TRUE(until([&] { return r->ended(); }));
        if (other.joinable()) {
            other.join();
        }
        EXPECT_EQ(r->how(), ending::stopped);
        EXPECT_EQ(r->seen.completions, 1);
        r.reset();
        EXPECT_EQ(trace, "io");
    }
}

TEST_P(Task, MayGoOnAfterWhatWasStoppedIfItAsksForIt) {
    const auto body = []() -> task<int> {
        const auto nothing_came = co_await ex::stopped_as_optional(
            ex::let_value(ex::just(1), [](int) { return ex::just_stopped(); }) |
            ex::let_stopped([] { return ex::just(std::optional<int>()); }) |
            ex::then([](std::optional<int> got) { return got.value_or(5); }));
        co_return nothing_came.value_or(0);
    };
    EXPECT_EQ(value_of(body()), 5);
}

/// What needs a bounded stack, on a thread with a small one.
void with_a_small_stack(const std::function<void()>& body) {
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, 256 * 1024), 0);
    pthread_t thread;
    std::function<void()> copy = body;
    ASSERT_EQ(pthread_create(
                  &thread, &attributes,
                  [](void* function) -> void* {
                      (*static_cast<std::function<void()>*>(function))();
                      return nullptr;
                  },
                  &copy),
              0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

constexpr int many = 1'000'000;

TEST_P(Task, AwaitsAMillionReadySendersWithABoundedStack) {
    int sum = 0;
    const auto body = [&]() -> task<> {
        for (int i = 0; i < many; ++i) {
            sum += co_await ex::just(1);
        }
    };
    with_a_small_stack([&] {
        eddy::loop mine({.engine = GetParam()});
        mine.run(body());
        sum += ex::sync_wait(body()) ? 0 : 1;
    });
    EXPECT_EQ(sum, 2 * many);
}

TEST_P(Task, AwaitsAMillionReadyTasksWithABoundedStack) {
    int sum = 0;
    const auto child = []() -> task<int> { co_return co_await ex::just(1); };
    const auto body = [&](bool hop) -> task<> {
        if (hop) {
            co_await eddy::loop::current()->get_scheduler().schedule();
        }
        for (int i = 0; i < many; ++i) {
            sum += co_await child();
        }
    };
    with_a_small_stack([&] {
        eddy::loop mine({.engine = GetParam()});
        mine.run(body(true));
        sum += ex::sync_wait(body(false)) ? 0 : 1;
    });
    EXPECT_EQ(sum, 2 * many);
}

TEST_P(Task, AwaitsTasksThatWaitWithABoundedStack) {
    constexpr int rounds = 20'000;
    int sum = 0;
    const auto child = [](loop_scheduler home) -> task<int> {
        co_await home.schedule();
        co_return 1;
    };
    const auto body = [&](loop_scheduler home) -> task<> {
        for (int i = 0; i < rounds; ++i) {
            sum += co_await child(home);
        }
    };
    with_a_small_stack([&] {
        eddy::loop mine({.engine = GetParam()});
        mine.run(body(mine.get_scheduler()));
    });
    EXPECT_EQ(sum, rounds);
}

TEST_P(Task, StaysOnItsLoopWhateverItAwaits) {
    loop_group others({.size = 1, .loop = {.engine = GetParam()}});
    others.start();
    bool stayed = true;
    const auto child = [&]() -> task<> {
        co_await others.get_scheduler().schedule();
        stayed = stayed && eddy::loop::current() == &loop();
    };
    const auto body = [&]() -> task<> {
        for (int i = 0; i < 200; ++i) {
            co_await others.get_scheduler().schedule();
            stayed = stayed && eddy::loop::current() == &loop();
            co_await child();
            stayed = stayed && eddy::loop::current() == &loop();
            std::thread where;
            const int got = co_await on_a_thread{&where, i};
            EXPECT_EQ(got, i);
            where.join();
            stayed = stayed && eddy::loop::current() == &loop();
        }
    };
    EXPECT_TRUE(loop().run(body()));
    EXPECT_TRUE(stayed);
}

TEST_P(Task, ThrowsAndEndsAtHomeToo) {
    loop_group others({.size = 1, .loop = {.engine = GetParam()}});
    others.start();
    bool at_home = false;
    const auto fails = [&]() -> task<> {
        try {
            co_await ex::let_value(others.get_scheduler().schedule(),
                                   [] { return ex::just_error(refused); });
        } catch (const std::system_error&) {
            at_home = eddy::loop::current() == &loop();
        }
        co_await ex::let_value(others.get_scheduler().schedule(),
                               [] { return ex::just_stopped(); });
    };
    running<task<>> r(fails());
    r.start_on(loop());
    ASSERT_TRUE(until([&] { return r.ended(); }));
    EXPECT_EQ(r.how(), ending::stopped);
    EXPECT_EQ(r.seen.where, &loop());
    EXPECT_TRUE(at_home);
}

TEST_P(Task, DoesNotHopIfWhatItAwaitsCompletesAtHome) {
    fd_pair pair = unix_stream_pair();
    const descriptor reader = attach(std::move(pair.first));
    std::uint64_t posts = 0;
    const auto body = [&]() -> task<> {
        std::string buffer(1, ' ');
        const std::uint64_t before = loop().counters().posts;
        for (int i = 0; i < 10; ++i) {
            co_await ex::just();
            co_await nothing();
            co_await loop().get_scheduler().schedule_after(10us);
            test::send_all(pair.second.get(), "x");
            co_await io_sender<as_count>(&loop(), recv(reader, bytes(buffer)));
        }
        posts = loop().counters().posts - before;
    };
    EXPECT_TRUE(loop().run(body()));
    EXPECT_EQ(posts, 0U);
}

TEST_P(Task, WithoutALoopGoesOnWhereverWhatItAwaitsCompletes) {
    loop_group others({.size = 1, .loop = {.engine = GetParam()}});
    others.start();
    const auto child = [&]() -> task<int> {
        co_await others.get_scheduler().schedule();
        co_return 1;
    };
    const auto body = [&]() -> task<int> {
        int sum = 0;
        for (int i = 0; i < 100; ++i) {
            std::thread where;
            sum += co_await on_a_thread{&where, 1};
            // Not joined by itself: it may run this.
            if (where.get_id() == std::this_thread::get_id()) {
                where.detach();
            } else {
                where.join();
            }
            sum += co_await child();
        }
        co_return sum;
    };
    EXPECT_EQ(std::get<0>(ex::sync_wait(body()).value()), 200);
    EXPECT_THROW(ex::sync_wait([]() -> task<> { co_await ex::just_error(refused); }()),
                 std::system_error);
    EXPECT_FALSE(ex::sync_wait([]() -> task<> { co_await ex::just_stopped(); }()));
}

TEST_P(Task, WithoutALoopMayUseWhatNeedsNoTimerAfterAll) {
    const auto body = []() -> task<int> { co_return co_await retry([] { return ex::just(4); }); };
    EXPECT_EQ(std::get<0>(ex::sync_wait(body()).value()), 4);
}

TEST(TaskMisuseDeathTest, ATimerOrASchedulerWithoutALoop) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(ex::sync_wait([]() -> task<> { co_await timeout(ex::just(), 1s); }()),
                 "needs a timer was started outside any loop");
    EXPECT_DEATH(ex::sync_wait([]() -> task<> {
                     const auto home = co_await ex::read_env(ex::get_scheduler);
                     co_await home.schedule();
                 }()),
                 "was started outside any");
}

TEST_P(Task, ReturnsWhatIsInBraces) {
    struct pair {
        int first;
        int second;
    };
    const auto body = []() -> task<pair> { co_return {3, 4}; };
    EXPECT_EQ(value_of(body()).second, 4);
}

TEST_P(Task, TellsWhatItAwaitsItsSchedulerAndItsStopToken) {
    const auto child = [&]() -> task<> {
        const loop_scheduler told = co_await ex::read_env(ex::get_scheduler);
        EXPECT_EQ(told, loop().get_scheduler());
        const auto token = co_await ex::read_env(ex::get_stop_token);
        EXPECT_TRUE(token.stop_possible());
    };
    const auto body = [&]() -> task<> { co_await child(); };
    EXPECT_TRUE(loop().run(body()));
}

TEST_P(Task, RunsUnderStopTokensOfEveryType) {
    const auto waits = [&]() -> task<> { co_await loop().get_scheduler().schedule_after(1h); };
    const auto brief = [&]() -> task<> { co_await loop().get_scheduler().schedule_after(1ms); };
    EXPECT_TRUE(loop().run(ex::unstoppable(brief()))) << "never_stop_token";

    // A token that is neither: it forwards to an inplace_stop_source, as any may.
    ex::inplace_stop_source source;
    const foreign_token token{source.get_token()};
    loop().post([&] { loop().post([&] { source.request_stop(); }); });
    EXPECT_FALSE(loop().run(ex::write_env(waits(), ex::prop(ex::get_stop_token, token))));
    ex::inplace_stop_source quiet;
    EXPECT_TRUE(loop().run(
        ex::write_env(brief(), ex::prop(ex::get_stop_token, foreign_token{quiet.get_token()}))));
}

/// A receiver with a foreign token, whose operation is gone when it has completed.
class ForeignlyStopped {
    struct environment {
        foreign_token token;
        foreign_token query(ex::get_stop_token_t) const noexcept { return token; }
    };
    struct receiver {
        using receiver_concept = ex::receiver_tag;
        ForeignlyStopped* self;
        void set_value() noexcept { ADD_FAILURE(); }
        void set_error(const std::exception_ptr&) noexcept { ADD_FAILURE(); }
        void set_stopped() noexcept { self->operation.reset(); }
        environment get_env() const noexcept { return {{self->source.get_token()}}; }
    };
    struct holder {
        holder(task<> what, receiver r) : inner(ex::connect(std::move(what), r)) {}
        ex::connect_result_t<task<>, receiver> inner;
    };

public:
    explicit ForeignlyStopped(task<> what)
        : operation(std::make_unique<holder>(std::move(what), receiver{this})) {}
    void start() { ex::start(operation->inner); }

    ex::inplace_stop_source source;
    std::unique_ptr<holder> operation;
};

TEST(TaskWithoutLoop, MayBeDestroyedInsideTheStopThatEndsIt) {
    event never_set;
    const auto waits = [&]() -> task<> { co_await never_set.wait(); };
    ForeignlyStopped stopped(waits());
    stopped.start();
    stopped.source.request_stop();
    EXPECT_EQ(stopped.operation, nullptr);
}

/// The thread that brings a task home may not have left the loop when the task is done. TSan looks.
TEST_P(Task, ItsLoopMayBeDestroyedAsSoonAsItCameHome) {
    loop_group away({.size = 1, .loop = {.engine = GetParam()}});
    away.start();
    for (int i = 0; i != 300; ++i) {
        eddy::loop home({.engine = GetParam()});
        const auto go_away = [&]() -> task<int> {
            co_await away.get_scheduler().schedule();
            co_return 1;
        };
        ASSERT_EQ(std::get<0>(home.run(go_away()).value()), 1);
    }
}

}  // namespace
}  // namespace eddy::test::task_test
