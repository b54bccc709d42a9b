// SPDX-License-Identifier: Apache-2.0
#include "async/running.hpp"
#include "kernel/call.hpp"
#include "support/engine_fixture.hpp"
#include "support/heard_reports.hpp"
#include "support/refused_waits.hpp"

#include <eddy/io/run.hpp>

#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>

namespace eddy::test::run_test {
namespace {

/// A sender that completes on a thread of its own, with or without a stop.
template <class Completion>
struct on_a_thread {
    using sender_concept = ex::sender_tag;
    std::thread* where;

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<ex::set_value_t(int), ex::set_stopped_t()>{};
    }
    template <class Receiver>
    struct operation {
        using operation_state_concept = ex::operation_state_tag;
        std::thread* where;
        Receiver receiver;
        void start() & noexcept {
            *where = std::thread([this] { Completion()(std::move(receiver)); });
        }
    };
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const noexcept {
        return operation<Receiver>{where, std::move(receiver)};
    }
};

struct with_seven {
    template <class Receiver>
    void operator()(Receiver receiver) const noexcept {
        ex::set_value(std::move(receiver), 7);
    }
};
struct when_stopped {
    template <class Receiver>
    void operator()(Receiver receiver) const noexcept {
        const auto token = ex::get_stop_token(ex::get_env(receiver));
        while (!token.stop_requested()) {
            std::this_thread::yield();
        }
        ex::set_stopped(std::move(receiver));
    }
};

/// The loop cannot wait from here on, and has given up at least once before this completes: it does
/// so at the fifth refusal at the latest.
struct later {
    static inline std::atomic<bool> completed;
    static inline int error;
    static inline loop* home;
    template <class Receiver>
    void operator()(Receiver receiver) const noexcept {
        refuse_waits(home->engine(), error, 1'000'000);
        home->post([] {});  // so that it finds out
        const time_point limit = clock::now() + patience;
        while (kernel::fired(wait_call_of(home->engine())) < 20 && clock::now() < limit) {
            std::this_thread::yield();
        }
        completed = true;
        ex::set_value(std::move(receiver), 7);
    }
};

class RunSender : public EngineTest {
protected:
    void SetUp() override {
        EngineTest::SetUp();
        if (!IsSkipped()) {
            static_cast<void>(loop());
        }
    }
};
EDDY_ON_EVERY_ENGINE(RunSender);

TEST_P(RunSender, ReturnsTheValue) {
    const std::optional<std::tuple<int>> got = loop().run(ex::just(42));
    ASSERT_TRUE(got);
    EXPECT_EQ(std::get<0>(*got), 42);
}

TEST_P(RunSender, ReturnsSeveralValuesOrNone) {
    auto [number, text] = loop().run(ex::just(1, std::string("one"))).value();
    EXPECT_EQ(number, 1);
    EXPECT_EQ(text, "one");
    EXPECT_TRUE(loop().run(ex::just()).has_value());
}

TEST_P(RunSender, ReturnsNothingIfItIsStopped) {
    EXPECT_FALSE(loop().run(ex::just_stopped()).has_value());
}

TEST_P(RunSender, StartsItOnTheLoopWhoseSchedulerItTells) {
    eddy::loop* started_on = nullptr;
    auto sender = ex::let_value(ex::read_env(ex::get_scheduler), [&](loop_scheduler home) {
        started_on = eddy::loop::current();
        return ex::just(&home.home());
    });
    auto [told] = loop().run(std::move(sender)).value();
    EXPECT_EQ(started_on, &loop());
    EXPECT_EQ(told, &loop());
    EXPECT_EQ(eddy::loop::current(), nullptr);
}

TEST_P(RunSender, ThrowsAnErrorCodeAsSystemError) {
    const auto code = std::make_error_code(std::errc::connection_refused);
    try {
        static_cast<void>(loop().run(ex::just_error(code)));
        FAIL();
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), code);
    }
}

TEST_P(RunSender, ThrowsWhatAnExceptionPointerHolds) {
    EXPECT_THROW(static_cast<void>(loop().run(
                     ex::just_error(std::make_exception_ptr(std::out_of_range("too far"))))),
                 std::out_of_range);
    EXPECT_THROW(
        static_cast<void>(loop().run(ex::then(ex::just(), [] { throw std::domain_error("no"); }))),
        std::domain_error);
}

TEST_P(RunSender, ThrowsAnyOtherErrorItself) {
    EXPECT_THROW(static_cast<void>(loop().run(ex::just_error(std::string("bad")))), std::string);
}

struct throws_when_copied {
    throws_when_copied() = default;
    throws_when_copied(const throws_when_copied&) { throw std::length_error("copied"); }
    throws_when_copied(throws_when_copied&&) noexcept(false) { throw std::length_error("moved"); }
};

TEST_P(RunSender, ThrowsWhatKeepingTheValueThrows) {
    auto sender = ex::then(ex::just(), [] { return throws_when_copied(); });
    EXPECT_THROW(static_cast<void>(loop().run(std::move(sender))), std::length_error);
}

TEST_P(RunSender, RunsTheLoopMeanwhileAndLeavesTheRestForTheNextRun) {
    int ran = 0;
    loop().post([&] { ++ran; });
    loop().run(loop().get_scheduler().schedule_after(1ms));
    EXPECT_EQ(ran, 1);
    running later(loop().get_scheduler().schedule_after(2ms));
    later.start_on(loop());
    loop().run(ex::just());
    ASSERT_TRUE(until([&] { return later.ended(); }));
    EXPECT_EQ(later.how(), ending::value);
}

TEST_P(RunSender, AStopOfTheLoopStopsTheSender) {
    loop().post([&] { loop().stop(); });
    EXPECT_FALSE(loop().run(loop().get_scheduler().schedule_after(1h)).has_value());
    loop().stop();
    EXPECT_FALSE(loop().run(loop().get_scheduler().schedule_after(1h)).has_value())
        << "one that came before the run counts too";
}

TEST_P(RunSender, AStopFromAnotherThreadStopsTheSender) {
    std::thread other([&] { loop().stop(); });
    EXPECT_FALSE(loop().run(loop().get_scheduler().schedule_after(1h)).has_value());
    other.join();
}

TEST_P(RunSender, AStopEndsASenderThatOnlyAnotherThreadCompletes) {
    std::thread where;
    loop().post([&] { loop().stop(); });
    EXPECT_FALSE(loop().run(on_a_thread<when_stopped>{&where}).has_value());
    where.join();
}

TEST_P(RunSender, MayCompleteOnAnotherThread) {
    for (int i = 0; i < 300; ++i) {
        std::thread where;
        const auto got = loop().run(on_a_thread<with_seven>{&where});
        where.join();
        ASSERT_TRUE(got);
        ASSERT_EQ(std::get<0>(*got), 7);
    }
}

TEST_P(RunSender, MayCompleteOnAnotherThreadJustBeforeTheLoopIsDestroyed) {
    for (int i = 0; i < 200; ++i) {
        std::thread where;
        {
            eddy::loop short_lived({.engine = GetParam()});
            ASSERT_TRUE(short_lived.run(on_a_thread<with_seven>{&where}));
        }
        where.join();
    }
}

TEST_P(RunSender, CompletedElsewhereLeavesNoStopForTheNextRun) {
    for (int i = 0; i < 200; ++i) {
        std::thread where;
        loop().stop();  // the sender is asked to stop, which it does not heed
        const auto got = loop().run(on_a_thread<with_seven>{&where});
        where.join();
        ASSERT_TRUE(got);
        const auto next = loop().run(loop().get_scheduler().schedule());
        ASSERT_TRUE(next) << "in round " << i;
    }
}

TEST_P(RunSender, ThrowsIfTheKernelRefusesToWaitAndTakesTheSenderBack) {
    refuse_waits(GetParam(), EFAULT, 1000);
    EXPECT_THROW(static_cast<void>(loop().run(loop().get_scheduler().schedule_after(1h))),
                 std::system_error);
    kernel::fail_nothing();
    EXPECT_TRUE(loop().empty());
    EXPECT_TRUE(loop().run(ex::just()));
}

/// The other thread completes it in its own time, and must find it in its place.
TEST_P(RunSender, IsNotLeftByAnErrorBeforeAnotherThreadHasCompletedTheSender) {
    const heard_reports heard;
    for (const int error : {EFAULT, ENOMEM}) {
        later::completed = false;
        end_loop();
        make_loop({.wait_retry = 5ms});
        later::error = error;
        later::home = &loop();
        std::thread where;
        EXPECT_THROW(static_cast<void>(loop().run(on_a_thread<later>{&where})), std::system_error);
        EXPECT_TRUE(later::completed);
        where.join();
        kernel::fail_nothing();
        EXPECT_TRUE(loop().run(ex::just()));
    }
}

TEST_P(RunSender, MayBeNestedInACallbackOfAnotherLoop) {
    int inner_value = 0;
    auto sender = ex::then(loop().get_scheduler().schedule(), [&] {
        eddy::loop inner({.engine = GetParam()});
        inner_value = std::get<0>(inner.run(ex::just(5)).value());
        return eddy::loop::current();
    });
    auto [current] = loop().run(std::move(sender)).value();
    EXPECT_EQ(inner_value, 5);
    EXPECT_EQ(current, &loop());
}

/// run_sender(mode): the loop as a sender.
class LoopAsSender : public RunSender {};
EDDY_ON_EVERY_ENGINE(LoopAsSender);

TEST_P(LoopAsSender, CompletesWithTheNumberOfCompletions) {
    int ran = 0;
    loop().post([&] { ++ran; });
    loop().post([&] { ++ran; });
    auto [count] = ex::sync_wait(loop().run_sender(run_mode::empty)).value();
    EXPECT_EQ(count, 2U);
    EXPECT_EQ(ran, 2);
}

TEST_P(LoopAsSender, EndsWithAValueAfterTheLoopWasStopped) {
    loop().post([&] { loop().stop(); });
    auto [count] = ex::sync_wait(loop().run_sender()).value();
    EXPECT_EQ(count, 1U);
}

struct no_value_kept {
    void operator()(outcome&, std::size_t) {}
};

TEST_P(LoopAsSender, AStopRequestFromAnotherThreadStopsTheLoop) {
    running<loop_run_sender, no_value_kept> r(loop().run_sender());
    std::thread runner([&] { r.start(); });
    std::thread stopper([&] { r.stop(); });
    stopper.join();
    runner.join();
    EXPECT_EQ(r.how(), ending::value);
    EXPECT_EQ(r.seen.completions, 1);
}

TEST_P(LoopAsSender, AStopRequestFromACallbackStopsTheLoop) {
    running<loop_run_sender, no_value_kept> r(loop().run_sender());
    loop().post([&] { r.stop(); });
    r.start();
    EXPECT_EQ(r.how(), ending::value);
}

TEST_P(LoopAsSender, AStopThatCameBeforeEndsItAtOnce) {
    running<loop_run_sender, no_value_kept> r(loop().run_sender());
    r.stop();
    r.start();
    EXPECT_EQ(r.how(), ending::value);
}

TEST_P(LoopAsSender, AKernelThatRefusesToWaitIsAnError) {
    running<loop_run_sender, no_value_kept> r(loop().run_sender());
    refuse_waits(GetParam(), EFAULT, 1000);
    r.start();
    kernel::fail_nothing();
    EXPECT_EQ(r.how(), ending::error);
    EXPECT_EQ(r.seen.error, std::errc::bad_address);
}

}  // namespace
}  // namespace eddy::test::run_test
