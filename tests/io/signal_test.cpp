// SPDX-License-Identifier: Apache-2.0
#include "io/io_fixture.hpp"
#include "support/random.hpp"
#include "support/signals.hpp"

#include <eddy/io/signal.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <thread>
#include <vector>

namespace eddy::test::signal_test {
namespace {

class SignalSender : public IoTest {
protected:
    static inline const int rt = SIGRTMIN + 3;
    blocked_signals blocked_{{SIGUSR1, SIGUSR2, rt}};
};
EDDY_ON_EVERY_ENGINE(SignalSender);

TEST_P(SignalSender, SendsTheSignal) {
    signal_source source(loop(), {SIGUSR1});
    started waiting(loop(), wait_signal(source, SIGUSR1));
    settle();
    EXPECT_FALSE(waiting.ended());
    send_signal(SIGUSR1);
    ASSERT_TRUE(ends(waiting));
    EXPECT_EQ(waiting.value().signum, SIGUSR1);
}

TEST_P(SignalSender, SendsOneThatWasPendingBefore) {
    ASSERT_TRUE(queue_signal(rt, 5));
    signal_source source(loop(), {rt});
    EXPECT_EQ(run(wait_signal(source, rt)).int_value(), 5);
}

TEST_P(SignalSender, SendsAnyOfASet) {
    signal_source source(loop(), {SIGUSR1, SIGUSR2});
    started waiting(loop(), wait_any_signal(source, {SIGUSR1, SIGUSR2}));
    settle();
    send_signal(SIGUSR2);
    ASSERT_TRUE(ends(waiting));
    EXPECT_EQ(waiting.value().signum, SIGUSR2);
}

TEST_P(SignalSender, FailsForASignalThatTheSourceDoesNotHave) {
    signal_source source(loop(), {SIGUSR1});
    EXPECT_EQ(error_of(wait_signal(source, SIGUSR2)), errc::signal_not_attached);
    EXPECT_EQ(error_of(wait_any_signal(source, {SIGUSR1, SIGUSR2})), errc::signal_not_attached);
    EXPECT_THROW(static_cast<void>(wait_signal(source, 0)), std::system_error);
}

TEST_P(SignalSender, DetachingEndsItWithCanceledAndAStopWithStopped) {
    signal_source source(loop(), {SIGUSR1, SIGUSR2});
    started detached(loop(), wait_signal(source, SIGUSR1));
    started asked(loop(), wait_signal(source, SIGUSR2));
    settle();
    source.detach({SIGUSR1});
    asked.stop();
    ASSERT_TRUE(ends(detached));
    ASSERT_TRUE(ends(asked));
    EXPECT_EQ(detached.error(), canceled);
    EXPECT_TRUE(asked.stopped());
}

TEST_P(SignalSender, IsStoppedWhenTheLoopDrains) {
    signal_source source(loop(), {SIGUSR1});
    started waiting(loop(), wait_signal(source, SIGUSR1));
    settle();
    loop().stop();
    loop().run(run_mode::drained, {.until = clock::now() + patience});
    EXPECT_TRUE(waiting.stopped());
}

TEST_P(SignalSender, OnceAskedToStopItTakesNoSignal) {
    signal_source source(loop(), {rt});
    std::optional<started<decltype(wait_signal(source, rt))>> waiting;
    waiting.emplace(loop(), wait_signal(source, rt));
    settle();
    ASSERT_TRUE(queue_signal(rt, 1));
    // In one turn: its look is queued, then it is asked to stop, by what runs before the look.
    loop().post([&] { waiting->stop(); });
    ASSERT_TRUE(ends(*waiting));
    EXPECT_TRUE(waiting->stopped());
    EXPECT_TRUE(is_pending(rt)) << "the signal was swallowed";
    EXPECT_EQ(run(wait_signal(source, rt)).int_value(), 1);
}

TEST_P(SignalSender, ItsStateMayBeDestroyedWhileItIsPending) {
    signal_source source(loop(), {SIGUSR1});
    auto waiting = std::make_unique<started<decltype(wait_signal(source, SIGUSR1))>>(
        loop(), wait_signal(source, SIGUSR1));
    settle();
    waiting.reset();
    send_signal(SIGUSR1);
    settle();
    EXPECT_TRUE(is_pending(SIGUSR1));
    EXPECT_EQ(run(wait_signal(source, SIGUSR1)).signum, SIGUSR1);
}

TEST_P(SignalSender, MayBeStartedFromAnotherThreadAndCompletesOnItsLoop) {
    signal_source source(loop(), {SIGUSR1});
    std::atomic<bool> here{false};
    std::thread other([&] {
        const auto got =
            ex::sync_wait(wait_signal(source, SIGUSR1) | ex::then([&](signal_info info) {
                              here = loop::current() == &loop();
                              return info.signum;
                          }));
        EXPECT_EQ(std::get<0>(got.value()), SIGUSR1);
    });
    send_signal(SIGUSR1);
    ASSERT_TRUE(until_driven([&] { return here.load(); }));
    other.join();
}

/// Keeps the values, and stops the loop when the wait has ended.
struct collector {
    using receiver_concept = ex::receiver_tag;
    struct environment {
        ex::inplace_stop_token token;
        ex::inplace_stop_token query(ex::get_stop_token_t) const noexcept { return token; }
    };
    loop* home;
    ex::inplace_stop_source* source;
    std::vector<int>* values;
    int* stops;

    void set_value(signal_info info) noexcept {
        values->push_back(info.int_value());
        home->stop();
    }
    void set_error(std::error_code) noexcept { home->stop(); }
    void set_stopped() noexcept {
        ++*stops;
        home->stop();
    }
    environment get_env() const noexcept { return {source->get_token()}; }
};

/// A stop races with the delivery. Real-time signals are queued with their values, so a signal that
/// is read for a wait that then ends stopped leaves a gap.
TEST_P(SignalSender, StoppedFromAnotherThreadItNeverSwallowsASignal) {
    random_numbers random;
    signal_source source(loop(), {rt});
    constexpr int count = 100;
    for (int i = 0; i != count; ++i) {
        ASSERT_TRUE(queue_signal(rt, i));
    }
    std::vector<int> values;
    int stops = 0;
    std::counting_semaphore<> go(0);
    std::counting_semaphore<> asked(0);
    ex::inplace_stop_source* target = nullptr;
    std::thread stopper([&] {
        for (go.acquire(); target != nullptr; go.acquire()) {
            target->request_stop();
            asked.release();
        }
    });
    // More urgent work keeps the wait from its turn: for a while, or until it is asked to stop, and
    // the request may still be on its way then.
    std::uint64_t rounds_of_work = 0;
    bool until_asked = false;
    std::function<void()> work = [&] {
        if (rounds_of_work != 0 || (until_asked && !target->stop_requested())) {
            rounds_of_work -= rounds_of_work != 0 ? 1U : 0U;
            loop().post([&] { work(); });
        }
    };
    const time_point limit = clock::now() + 30s;
    while (values.size() != count && clock::now() < limit) {
        ex::inplace_stop_source stop;
        auto operation =
            ex::connect(wait_signal(source, rt, 60), collector{&loop(), &stop, &values, &stops});
        target = &stop;
        until_asked = random.one_in(2);
        rounds_of_work = random.below(until_asked ? 2 : 1000);
        loop().post([&] {
            ex::start(operation);
            work();
        });
        go.release();
        loop().run_for(patience);
        asked.acquire();
        settle();
    }
    EXPECT_GT(stops, 0);
    target = nullptr;
    go.release();
    stopper.join();
    ASSERT_EQ(values.size(), std::size_t{count}) << "with " << stops << " stops";
    for (int i = 0; i != count; ++i) {
        ASSERT_EQ(values[static_cast<std::size_t>(i)], i) << "with " << stops << " stops";
    }
}

}  // namespace
}  // namespace eddy::test::signal_test
