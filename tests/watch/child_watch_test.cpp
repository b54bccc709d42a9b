// SPDX-License-Identifier: Apache-2.0
#include "kernel/call.hpp"
#include "loop/allocations.hpp"
#include "os/process_fixture.hpp"
#include "watch/test_watch.hpp"

#include <atomic>
#include <cerrno>
#include <memory>
#include <thread>

namespace eddy::test::child_watch_test {
namespace {

/// A watch that writes down what it is told and lets a function decide.
class test_child : public child_watch {
public:
    using decide = std::function<reaction(test_child&)>;

    explicit test_child(loop& home, decide function = {}, const watch_options& options = {})
        : child_watch(home, &on_end, &on_removed, options), function_(std::move(function)) {}
    template <class What>
    test_child(loop& home, What&& what, decide function = {}, const watch_options& options = {})
        : child_watch(home, std::forward<What>(what), &on_end, &on_removed, options),
          function_(std::move(function)) {}

    int calls = 0;
    int removals = 0;
    exit_status status;

private:
    static reaction on_end(child_watch& w, const exit_status& status) noexcept {
        auto& self = static_cast<test_child&>(w);
        ++self.calls;
        self.status = status;
        const decide function = self.function_;
        return function ? function(self) : reaction::rearm;
    }
    static void on_removed(child_watch& w) noexcept { ++static_cast<test_child&>(w).removals; }

    decide function_;
};

class ChildWatch : public ProcessTest {
protected:
    bool told(const test_child& w, int calls = 1) {
        return until([&] { return w.calls == calls; });
    }
};
EDDY_ON_EVERY_ENGINE(ChildWatch);

TEST_P(ChildWatch, StartsAProcessAndIsToldItsStatusAndUsageOnce) {
    test_child w(loop(), shell("exit 7"));
    EXPECT_TRUE(w.process().is_child());
    ASSERT_TRUE(told(w));
    EXPECT_EQ(w.status.code, 7);
    EXPECT_TRUE(w.status.exited() && w.status.has_usage);
    EXPECT_GT(w.status.usage.ru_maxrss, 0);
    EXPECT_FALSE(w.error());
    settle();
    EXPECT_EQ(w.calls, 1) << "it has one end, though the watch is armed";
    test_child killed(loop(), sleeper());
    EXPECT_FALSE(killed.process().send_signal(SIGKILL));
    ASSERT_TRUE(told(killed));
    EXPECT_EQ(killed.status.signal, SIGKILL);
}

TEST_P(ChildWatch, IsNeverCalledFromInsideACall) {
    test_child w(loop(), shell("exit 0"), {}, {.armed = false});
    ASSERT_TRUE(all_reaped());
    w.arm();
    EXPECT_EQ(w.calls, 0);
    ASSERT_TRUE(told(w));
}

TEST_P(ChildWatch, DisarmedIsToldOfTheEndWhenItIsArmed) {
    test_child w(loop(), shell("exit 3"));
    w.disarm();
    ASSERT_TRUE(all_reaped());
    settle();
    EXPECT_EQ(w.calls, 0);
    w.arm();
    ASSERT_TRUE(told(w));
    EXPECT_EQ(w.status.code, 3);
}

TEST_P(ChildWatch, CanStartTheNextProcessFromInsideItsCallback) {
    test_child w(loop(), shell("exit 1"), [&](test_child& self) {
        if (self.calls == 3) {
            return reaction::remove;
        }
        EXPECT_FALSE(self.spawn(shell("exit " + std::to_string(self.calls + 1))));
        return reaction::rearm;
    });
    ASSERT_TRUE(until([&] { return w.removals == 1; }));
    EXPECT_EQ(w.calls, 3);
    EXPECT_EQ(w.status.code, 3);
    EXPECT_FALSE(w.process());
}

TEST_P(ChildWatch, OfAnotherProcessForgetsTheFirst) {
    test_child w(loop(), sleeper());
    settle();
    ASSERT_FALSE(w.spawn(shell("exit 5")));  // kills the sleeper, whose last handle this was
    ASSERT_TRUE(told(w));
    EXPECT_EQ(w.status.code, 5);
    ASSERT_TRUE(all_reaped());
    settle();
    EXPECT_EQ(w.calls, 1);
}

TEST_P(ChildWatch, FailingToStartAnotherKeepsWhatItHas) {
    test_child w(loop(), shell("read x; exit 4"));
    spawn_step step = spawn_step::none;
    EXPECT_EQ(w.spawn({.program = "/does/not/exist"}, &step), std::errc::no_such_file_or_directory);
    EXPECT_EQ(step, spawn_step::execute);
    EXPECT_EQ(w.adopt(-1), std::errc::invalid_argument);
    EXPECT_EQ(w.spawn(), std::errc::invalid_argument) << "nothing is reserved";
    EXPECT_FALSE(w.process().send_signal(SIGTERM));
    ASSERT_TRUE(told(w));
}

TEST_P(ChildWatch, ASecondOneOnTheSameLoopIsToldTooAndAnotherLoopIsRefused) {
    test_child first(loop(), sleeper());
    test_child second(loop(), first.process().pid());
    eddy::loop other({.engine = GetParam()});
    test_child there(other);
    EXPECT_EQ(there.adopt(first.process().pid()), errc::process_has_owner);
    try {
        test_child refused(other, first.process().pid());
        ADD_FAILURE() << "another loop has it";
    } catch (const std::system_error& e) {
        EXPECT_EQ(e.code(), errc::process_has_owner);
    }
    first.process().send_signal(SIGKILL);
    ASSERT_TRUE(until([&] { return first.calls == 1 && second.calls == 1; }));
    EXPECT_EQ(first.status.signal, SIGKILL);
    EXPECT_EQ(second.status.signal, SIGKILL);
}

TEST_P(ChildWatch, AdoptsAChildAndAStranger) {
    const pid_t forked = ::fork();
    if (forked == 0) {
        ::_exit(6);
    }
    test_child child(loop(), forked);
    ASSERT_TRUE(told(child));
    EXPECT_EQ(child.status.code, 6);
    // A grandchild, of which we get the pid; its parent waits until it is killed.
    process_options parent = shell("sleep 1000 & echo $!; wait");
    parent.out = stdio::pipe();
    process_handle between = spawn(parent);
    std::string line(32, '\0');
    recorder reading;
    start(reading, read(between.stdio_pipe(1), bytes(line)));
    ASSERT_TRUE(ends(reading));
    test_child stranger(loop(), static_cast<pid_t>(std::stol(line)));
    EXPECT_FALSE(stranger.process().is_child());
    EXPECT_FALSE(stranger.process().send_signal(SIGKILL));
    ASSERT_TRUE(told(stranger));
    EXPECT_FALSE(stranger.status.has_usage);
    EXPECT_TRUE(end_of(between).exited());
}

TEST_P(ChildWatch, ReservedStartsAProcessWithoutAllocating) {
    test_child w(loop());
    ASSERT_FALSE(w.reserve(shell("exit 9")));
    test_child other(loop());
    EXPECT_EQ(other.reserve({.program = ""}), std::errc::invalid_argument);
    kernel::fail(kernel::call::eventfd, EMFILE, 0, 100);
    kernel::fail(kernel::call::epoll_ctl, ENOSPC, 0, 100);
    const std::uint64_t before = allocations();
    const std::error_code error = w.spawn();
    const std::uint64_t after = allocations();
    kernel::fail_nothing();
    ASSERT_FALSE(error) << error.message();
    EXPECT_EQ(after, before);
    ASSERT_TRUE(told(w));
    EXPECT_EQ(w.status.code, 9);
    EXPECT_EQ(w.spawn(), std::errc::invalid_argument) << "it is used up";
}

TEST_P(ChildWatch, AReservedOneFailsOnlyBeforeThereIsAProcess) {
    test_child w(loop());
    ASSERT_FALSE(w.reserve(shell("exit 0")));
    kernel::fail(kernel::call::clone, EAGAIN);
    spawn_step step = spawn_step::none;
    EXPECT_EQ(w.spawn(&step), std::errc::resource_unavailable_try_again);
    kernel::fail_nothing();
    EXPECT_FALSE(has_children());
    EXPECT_FALSE(w.process());
    ASSERT_FALSE(w.reserve(shell("exit 0")));  // and one that is never used leaves nothing
}

TEST_P(ChildWatch, RemovedBeforeTheEndIsNotCalledAndTheChildIsReaped) {
    test_child w(loop(), shell("exit 0"));
    w.remove();
    ASSERT_TRUE(until([&] { return w.removals == 1; }));
    EXPECT_EQ(w.calls, 0);
    EXPECT_FALSE(w.process());
    EXPECT_TRUE(all_reaped());
}

TEST_P(ChildWatch, RequeueTellsAgainAndItMayDestroyItself) {
    test_child w(loop(), shell("exit 2"), [](test_child& self) {
        return self.calls < 3 ? reaction::requeue : reaction::disarm;
    });
    ASSERT_TRUE(told(w, 3));
    EXPECT_EQ(w.status.code, 2);
    std::unique_ptr<test_child> itself;
    bool called = false;
    itself = std::make_unique<test_child>(loop(), shell("exit 0"), [&](test_child&) {
        called = true;
        itself.reset();
        return reaction::destroyed;
    });
    ASSERT_TRUE(until([&] { return called; }));
}

TEST_P(ChildWatch, SurvivesOthersWhoReapFirst) {
    test_child w(loop(), shell("exit 8"));
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(w.process().pid()), &info, WEXITED), 0);
    ASSERT_TRUE(told(w));
    if (keeps_status()) {
        EXPECT_FALSE(w.error());
        EXPECT_EQ(w.status.code, 8);
    } else {
        EXPECT_EQ(w.error(), std::errc::no_child_process);
        EXPECT_FALSE(w.status.known);
    }
    EXPECT_FALSE(w.status.has_usage);
}

TEST_P(ChildWatch, IsCalledInTheOrderOfPriorities) {
    std::string order;
    auto [reader, writer] = make_pipe();
    process_options waits = shell("read x");
    waits.in = stdio::given(reader.get());
    const auto note = [&](char which) {
        return [&, which](test_child&) {
            order += which;
            return reaction::disarm;
        };
    };
    test_child low(loop(), waits, note('l'), {.priority = 50, .armed = false});
    test_child high(loop(), waits, note('h'), {.priority = 40, .armed = false});
    high.set_priority(10);
    writer.reset();
    ASSERT_TRUE(all_reaped());
    low.arm();
    high.arm();
    ASSERT_TRUE(until([&] { return order.size() == 2; }));
    EXPECT_EQ(order, "hl");
}

TEST_P(ChildWatch, IsDisarmedByADrainingLoopAndKeepsALoopGoingOnlyWhileItWaits) {
    test_child w(loop(), shell("exit 0"));
    loop().run(run_mode::empty);
    EXPECT_EQ(w.calls, 1);
    ASSERT_FALSE(w.spawn(sleeper()));
    loop().stop();
    loop().run(run_mode::drained);
    EXPECT_FALSE(w.armed());
    w.process().send_signal(SIGKILL);
    w.arm();
    ASSERT_TRUE(told(w, 2));
}

TEST_P(ChildWatch, CanBeCommandedByAnotherThreadWhileTheProcessEnds) {
    for (int i = 0; i != 10; ++i) {
        test_child w(loop(), shell("exit 0"));
        std::thread other([&] {
            for (int n = 0; n != 20; ++n) {
                w.disarm();
                w.arm();
            }
            w.remove();
        });
        EXPECT_TRUE(until_driven([&] { return w.removals == 1; }));
        other.join();
        EXPECT_LE(w.calls, 1);
    }
    EXPECT_TRUE(all_reaped());
}

TEST_P(ChildWatch, MadeOfALambda) {
    int ends = 0;
    child_watch_handle a = loop().on_exit(shell("exit 1"), [&](auto&, const exit_status& status) {
        EXPECT_EQ(status.code, 1);
        ++ends;
        return reaction::remove;
    });
    process_handle process = spawn(shell("exit 2"));
    const child_watch_handle b =
        loop().on_exit(process.pid(), [&](child_watch&, const exit_status& status) {
            EXPECT_EQ(status.code, 2);
            ++ends;
        });
    const child_watch_handle c = loop().on_exit(std::move(process), [&](auto& w, const auto&) {
        EXPECT_GT(w.process().pid(), 0);
        ++ends;
    });
    ASSERT_TRUE(until([&] { return ends == 3; }));
}

}  // namespace
}  // namespace eddy::test::child_watch_test
