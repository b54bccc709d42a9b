// SPDX-License-Identifier: Apache-2.0
#include "loop/allocations.hpp"
#include "support/signals.hpp"
#include "watch/test_watch.hpp"

#include <memory>
#include <vector>

namespace eddy::test::signal_watch_test {
namespace {

/// A watch that writes down what it gets and lets a function decide.
class test_signals : public signal_watch {
public:
    using decide = std::function<reaction(test_signals&)>;

    template <class Home>
    test_signals(Home& home, signal_set signals, decide function = {},
                 const watch_options& options = {})
        : signal_watch(home, signals, &on_signal, &on_removed, options),
          function_(std::move(function)) {}

    std::vector<signal_info> got;
    int removals = 0;

private:
    static reaction on_signal(signal_watch& w, const signal_info& info) noexcept {
        auto& self = static_cast<test_signals&>(w);
        self.got.push_back(info);
        const decide function = self.function_;
        return function ? function(self) : reaction::rearm;
    }
    static void on_removed(signal_watch& w) noexcept { ++static_cast<test_signals&>(w).removals; }

    decide function_;
};

class SignalWatch : public EngineTest {
protected:
    static inline const int rt = SIGRTMIN + 4;
    blocked_signals blocked_{{SIGUSR1, SIGUSR2, SIGHUP, rt}};
};
EDDY_ON_EVERY_ENGINE(SignalWatch);

TEST_P(SignalWatch, GetsEachValueInOrder) {
    test_signals w(loop(), rt);
    ASSERT_TRUE(queue_signal(rt, 0));
    settle();
    for (int i = 1; i != 5; ++i) {
        ASSERT_TRUE(queue_signal(rt, i));
    }
    ASSERT_TRUE(until([&] { return w.got.size() == 5; }));
    for (int i = 0; i != 5; ++i) {
        EXPECT_EQ(w.got[static_cast<std::size_t>(i)].int_value(), i);
        EXPECT_EQ(w.got[static_cast<std::size_t>(i)].signum, rt);
        EXPECT_EQ(w.got[static_cast<std::size_t>(i)].pid, ::getpid());
    }
}

TEST_P(SignalWatch, DisarmedLeavesSignalsInTheKernelAndGetsThemWhenArmed) {
    test_signals w(loop(), rt, [](test_signals&) { return reaction::disarm; });
    for (int i = 0; i != 3; ++i) {
        ASSERT_TRUE(queue_signal(rt, i));
    }
    ASSERT_TRUE(until([&] { return w.got.size() == 1; }));
    EXPECT_LT(turns_in(10ms), 20U);
    EXPECT_EQ(w.got.size(), 1U);
    EXPECT_TRUE(is_pending(rt));
    w.arm();
    w.disarm();
    settle();
    EXPECT_EQ(w.got.size(), 1U);
    w.arm();
    ASSERT_TRUE(until([&] { return w.got.size() == 2; }));
    EXPECT_EQ(w.got[1].int_value(), 1);
    EXPECT_TRUE(is_pending(rt));
}

TEST_P(SignalWatch, OfLowPriorityLeavesTheSignalInTheKernelDuringMoreUrgentWork) {
    test_signals w(loop(), rt, {}, {.priority = 60});
    settle();
    fd_pair pipe = make_pipe();
    int busy = 0;
    bool left_alone = true;
    const watch_handle urgent = loop().on_readable(pipe.first.get(), [&](fd_watch& self) {
        if (busy == 0) {
            EXPECT_TRUE(queue_signal(rt, 7));
        }
        left_alone = left_alone && is_pending(rt);
        if (++busy != 200) {
            return reaction::requeue;
        }
        read_one(self.native_handle());
        return reaction::disarm;
    });
    write_all(pipe.second.get(), "x");
    ASSERT_TRUE(until([&] { return w.got.size() == 1; }));
    EXPECT_TRUE(left_alone) << "it was read though something more urgent was ready";
    EXPECT_EQ(busy, 200);
    EXPECT_EQ(w.got[0].int_value(), 7);
}

TEST_P(SignalWatch, PendingIsCalledBeforeADueTimerOfLowerPriority) {
    std::vector<char> order;
    test_signals w(loop(), SIGUSR1,
                   [&](test_signals&) {
                       order.push_back('s');
                       return reaction::rearm;
                   },
                   {.priority = 10});
    struct noting : timer_watch {
        noting(eddy::loop& home, std::vector<char>& to)
            : timer_watch(home,
                          [](timer_watch& t) noexcept {
                              static_cast<noting&>(t).order.push_back('t');
                              return reaction::rearm;
                          },
                          nullptr, {.priority = 20}),
              order(to) {}
        std::vector<char>& order;
    } timer(loop(), order);
    send_signal(SIGUSR1);
    timer.set_at(clock::now() - 1s);
    ASSERT_TRUE(until([&] { return order.size() == 2; }));
    EXPECT_EQ(order, (std::vector{'s', 't'}));
}

TEST_P(SignalWatch, AndWaitersOfOneSourceTakeTurns) {
    signal_source source(loop(), {rt});
    std::vector<char> order;
    test_signals w(source, rt, [&](test_signals&) {
        order.push_back('w');
        return reaction::rearm;
    });
    struct waiter {
        signal_source& source;
        std::vector<char>& order;
        signal_wait wait{[](signal_wait& done) noexcept {
            auto& self = detail::owner_of<&waiter::wait>(done);
            self.order.push_back('o');
            static_cast<void>(self.source.wait(self.wait, rt));
        }};
    } other{source, order};
    settle();
    ASSERT_FALSE(source.wait(other.wait, rt));
    for (int i = 0; i != 4; ++i) {
        ASSERT_TRUE(queue_signal(rt, i));
    }
    ASSERT_TRUE(until([&] { return order.size() == 4; }));
    EXPECT_EQ(order, (std::vector{'w', 'o', 'w', 'o'}));
    other.wait.cancel();
    w.set_priority(5);
    ASSERT_TRUE(queue_signal(rt, 4));
    ASSERT_TRUE(until([&] { return order.size() == 5; }));
}

TEST_P(SignalWatch, WithAnotherPriorityIsCalledInAnotherOrder) {
    signal_source source(loop(), {rt, SIGUSR1});
    std::vector<char> order;
    const auto told = [&order](char name) {
        return [&order, name](test_signals&) {
            order.push_back(name);
            return reaction::rearm;
        };
    };
    test_signals a(source, rt, told('a'), {.priority = 10});
    test_signals b(source, SIGUSR1, told('b'), {.priority = 20});
    settle();
    for (const priority_level priority : {priority_level{10}, priority_level{30}}) {
        a.set_priority(priority);
        ASSERT_TRUE(queue_signal(rt, 1));
        send_signal(SIGUSR1);
        const std::size_t before = order.size();
        ASSERT_TRUE(until([&] { return order.size() == before + 2; }));
    }
    EXPECT_EQ(order, (std::vector{'a', 'b', 'b', 'a'}));
}

TEST_P(SignalWatch, RequeueCallsAgainWithTheSameSignal) {
    test_signals w(loop(), {rt, SIGUSR1}, [](test_signals& self) {
        return self.got.size() < 3 ? reaction::requeue : reaction::rearm;
    });
    ASSERT_TRUE(queue_signal(rt, 9));
    ASSERT_TRUE(until([&] { return w.got.size() == 3; }));
    settle();
    EXPECT_EQ(w.got.size(), 3U);
    EXPECT_EQ(w.got[2].int_value(), 9);
    send_signal(SIGUSR1);
    ASSERT_TRUE(until([&] { return w.got.size() == 4; }));
    EXPECT_EQ(w.got[3].signum, SIGUSR1);
}

TEST_P(SignalWatch, RemovedWhileItsSignalIsPendingIsNotCalledAndLeavesIt) {
    auto w = std::make_unique<test_signals>(loop(), rt);
    settle();
    ASSERT_TRUE(queue_signal(rt, 1));
    w->remove();
    ASSERT_TRUE(until([&] { return w->removals == 1; }));
    EXPECT_TRUE(w->got.empty());
    EXPECT_TRUE(is_pending(rt));
    w = std::make_unique<test_signals>(loop(), rt);  // the first has given the signal back
    ASSERT_TRUE(until([&] { return w->got.size() == 1; }));
    w.reset();
    std::unique_ptr<test_signals> itself;
    bool called = false;
    itself = std::make_unique<test_signals>(loop(), rt, [&](test_signals&) {
        called = true;
        itself.reset();
        return reaction::destroyed;
    });
    ASSERT_TRUE(queue_signal(rt, 2));
    ASSERT_TRUE(until([&] { return called; }));
}

TEST_P(SignalWatch, RefusesWhatASourceRefuses) {
    const auto error_of = [&](auto& home, signal_set signals) {
        try {
            test_signals w(home, signals);
        } catch (const std::system_error& e) {
            return e.code();
        }
        return std::error_code();
    };
    EXPECT_EQ(error_of(loop(), SIGUSR1 | signal_set{SIGWINCH}), errc::signal_not_blocked);
    EXPECT_EQ(error_of(loop(), SIGSEGV), errc::signal_not_waitable);
    EXPECT_EQ(error_of(loop(), signal_set()), std::errc::invalid_argument);
    signal_source source(loop(), {SIGUSR1});
    EXPECT_EQ(error_of(loop(), SIGUSR1), errc::signal_has_owner);
    EXPECT_EQ(error_of(source, SIGUSR2), errc::signal_not_attached);
    EXPECT_EQ(error_of(source, SIGUSR1), std::error_code());
}

TEST_P(SignalWatch, IsDisarmedWhenItsSignalIsDetachedOrTheLoopDrains) {
    signal_source source(loop(), {SIGUSR1});
    test_signals w(source, SIGUSR1);
    settle();
    loop().stop();
    loop().run(run_mode::drained);
    EXPECT_FALSE(w.armed());
    send_signal(SIGUSR1);
    settle();
    EXPECT_TRUE(w.got.empty());
    w.arm();
    ASSERT_TRUE(until([&] { return w.got.size() == 1; }));
    source.detach();
    settle();
    EXPECT_FALSE(w.armed());
    w.arm();
    settle();
    EXPECT_FALSE(w.armed());
}

TEST_P(SignalWatch, CanBeArmedAgainWhenItsSourceHasTheSignalAgain) {
    signal_source source(loop(), {SIGUSR1});
    test_signals w(source, SIGUSR1);
    settle();
    source.detach();  // while the loop does not run
    ASSERT_FALSE(source.attach({SIGUSR1}));
    w.arm();
    send_signal(SIGUSR1);
    EXPECT_TRUE(until([&] { return w.got.size() == 1; }));
}

TEST_P(SignalWatch, MadeOfALambdaLivesAsLongAsItsHandle) {
    int count = 0;
    auto token = std::make_shared<int>(0);
    signal_watch_handle hup = loop().on_signal(SIGHUP, [&, token](auto&, const signal_info& info) {
        EXPECT_EQ(info.signum, SIGHUP);
        ++count;
        return reaction::rearm;
    });
    for (int i = 1; i != 4; ++i) {
        send_signal(SIGHUP);
        ASSERT_TRUE(until([&] { return count == i; }));
    }
    hup.reset();
    ASSERT_TRUE(until([&] { return token.use_count() == 1; }));
    signal_source source(loop(), {SIGHUP, SIGUSR1});
    const signal_watch_handle any = watch_signals(
        source, {SIGHUP, SIGUSR1}, [&](signal_watch&, const signal_info&) { ++count; });
    send_signal(SIGUSR1);
    send_signal(SIGHUP);
    ASSERT_TRUE(until([&] { return count == 5; }));
}

}  // namespace
}  // namespace eddy::test::signal_watch_test
