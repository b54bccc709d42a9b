// SPDX-License-Identifier: Apache-2.0
#include "os/process_fixture.hpp"
#include "os/signal_fixture.hpp"

#include <eddy/os/child_source.hpp>
#include <eddy/os/process_reservation.hpp>

#include <functional>
#include <map>
#include <memory>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

namespace eddy::test::child_source_test {
namespace {

/// A wait that writes down what it is told.
class child_recorder {
public:
    explicit child_recorder(std::function<void(child_recorder&)> then = nullptr)
        : then_(std::move(then)) {}

    std::vector<child_event> events;
    std::vector<std::error_code> errors;
    bool ended() const { return !events.empty() || !errors.empty(); }

    child_wait wait{
        [](child_wait& w) noexcept { detail::owner_of<&child_recorder::wait>(w).completed(); }};

private:
    void completed() {
        if (wait.error()) {
            errors.push_back(wait.error());
        } else {
            events.push_back(wait.event());
        }
        if (then_) {
            then_(*this);
        }
    }

    std::function<void(child_recorder&)> then_;
};

/// A child that no handle has: it ends with this code.
pid_t fork_child(int code) {
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::_exit(code);
    }
    return pid;
}

class ChildSource : public ProcessTest {
protected:
    /// Runs the loop until it was told something.
    bool told(child_recorder& r, std::size_t count = 1) {
        return until([&] { return r.events.size() + r.errors.size() == count; });
    }
    void wait_any(child_source& source, child_recorder& r) {
        ASSERT_FALSE(source.wait_any(r.wait));
    }
    void wait_change(child_source& source, child_recorder& r, const process_handle& process) {
        ASSERT_FALSE(source.wait_change(r.wait, process));
    }
    static std::error_code refusal(eddy::loop& home) {
        try {
            child_source source(home);
        } catch (const std::system_error& e) {
            return e.code();
        }
        return {};
    }

    blocked_signals blocked_{SIGCHLD};
};
EDDY_ON_EVERY_ENGINE(ChildSource);

TEST_P(ChildSource, TellsTheEndOfAChildThatNobodyWatches) {
    child_source source(loop());
    child_recorder r;
    wait_any(source, r);
    settle();
    EXPECT_FALSE(r.ended());
    const pid_t pid = fork_child(12);
    ASSERT_TRUE(told(r));
    EXPECT_EQ(r.events[0].what, child_change::ended);
    EXPECT_EQ(r.events[0].pid, pid);
    EXPECT_EQ(r.events[0].status.code, 12);
    EXPECT_TRUE(r.events[0].status.has_usage);
}

TEST_P(ChildSource, TellsOfOneThatHasEndedBeforeTheWaitAndEvenBeforeTheSource) {
    const pid_t pid = fork_child(3);
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
    child_source source(loop());
    settle();
    child_recorder r;
    wait_any(source, r);
    EXPECT_FALSE(r.ended()) << "never from inside the call";
    ASSERT_TRUE(told(r));
    EXPECT_EQ(r.events[0].pid, pid);
}

TEST_P(ChildSource, TellsAllThoughSigchldCoalesces) {
    child_source source(loop());
    std::map<pid_t, int> expected;
    for (int i = 0; i != 20; ++i) {
        expected[fork_child(i)] = i;
    }
    child_recorder r([&](child_recorder& self) {
        if (self.events.size() < 20) {
            wait_any(source, self);
        }
    });
    wait_any(source, r);
    ASSERT_TRUE(told(r, 20));
    for (const child_event& event : r.events) {
        ASSERT_TRUE(expected.contains(event.pid));
        EXPECT_EQ(event.status.code, expected[event.pid]);
    }
    EXPECT_FALSE(has_children());
}

TEST_P(ChildSource, LeavesAChildAloneThatAHandleHas) {
    child_source source(loop());
    child_recorder any;
    wait_any(source, any);
    process_handle mine = spawn(shell("exit 5"));
    const exit_status status = end_of(mine);
    EXPECT_EQ(status.code, 5);
    EXPECT_TRUE(status.has_usage) << "also if the look for any has come first";
    settle();
    EXPECT_FALSE(any.ended());
    // Of a loop that does not run, so that somebody has to get past it.
    eddy::loop idle({.engine = GetParam()});
    process_handle theirs(idle, shell("exit 6"));
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(theirs.pid()), &info, WEXITED | WNOWAIT), 0);
    const pid_t pid = fork_child(7);
    ASSERT_TRUE(told(any));
    EXPECT_EQ(any.events[0].pid, pid);
    exit_recorder theirs_ends;
    theirs.start(theirs_ends.wait());
    for (int i = 0; i != 1000 && !theirs_ends.ended(); ++i) {
        idle.run_for(1ms);
    }
    ASSERT_TRUE(theirs_ends.ended());
    EXPECT_EQ(theirs_ends.status().code, 6);
    EXPECT_TRUE(theirs_ends.status().has_usage) << "it was reaped for its loop, with the usage";
}

TEST_P(ChildSource, NobodyIsReapedWhileNobodyWaits) {
    child_source source(loop());
    child_recorder r;
    wait_any(source, r);
    settle();
    r.wait.cancel();
    const pid_t pid = fork_child(0);
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
    EXPECT_LT(turns_in(5ms), 20U);
    EXPECT_TRUE(has_children());
    EXPECT_FALSE(r.ended());
    child_recorder next;
    wait_any(source, next);
    ASSERT_TRUE(told(next));
    EXPECT_EQ(next.events[0].pid, pid);
}

TEST_P(ChildSource, TheMostUrgentAndThenTheFirstWaitGetsIt) {
    child_source source(loop());
    child_recorder a;
    child_recorder b;
    child_recorder urgent;
    a.wait.set_priority(40);
    b.wait.set_priority(40);
    urgent.wait.set_priority(10);
    wait_any(source, a);
    wait_any(source, b);
    wait_any(source, urgent);
    const pid_t one = fork_child(0);
    ASSERT_TRUE(told(urgent));
    EXPECT_EQ(urgent.events[0].pid, one);
    const pid_t two = fork_child(0);
    ASSERT_TRUE(told(a));
    EXPECT_EQ(a.events[0].pid, two);
    EXPECT_FALSE(b.ended());
}

TEST_P(ChildSource, TellsStopsContinuationsAndTheEnd) {
    child_source source(loop());
    process_handle child = spawn(sleeper());
    child_recorder r;
    child_recorder other;
    const auto next = [&](int signal, std::size_t count) {
        wait_change(source, r, child);
        wait_change(source, other, child);
        settle();
        EXPECT_FALSE(child.send_signal(signal));
        return until([&] { return r.events.size() == count && other.events.size() == count; });
    };
    ASSERT_TRUE(next(SIGSTOP, 1));
    EXPECT_EQ(r.events[0].what, child_change::stopped);
    EXPECT_EQ(r.events[0].stopped_by, SIGSTOP);
    EXPECT_EQ(r.events[0].pid, child.pid());
    ASSERT_TRUE(next(SIGCONT, 2));
    EXPECT_EQ(r.events[1].what, child_change::continued);
    ASSERT_TRUE(next(SIGKILL, 3));
    EXPECT_EQ(r.events[2].what, child_change::ended);
    EXPECT_EQ(r.events[2].status.signal, SIGKILL);
    EXPECT_EQ(other.events[1].what, child_change::continued);
    EXPECT_EQ(other.events[2].what, child_change::ended);
    EXPECT_EQ(end_of(child).signal, SIGKILL) << "nobody has taken it";
}

TEST_P(ChildSource, WaitingForStopsReapsNobody) {
    child_source source(loop());
    process_handle child = spawn(sleeper());
    child_recorder r;
    wait_change(source, r, child);
    settle();
    const pid_t others = fork_child(1);
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(others), &info, WEXITED | WNOWAIT), 0);
    turns_in(5ms);
    EXPECT_FALSE(r.ended());
    EXPECT_EQ(::waitpid(others, nullptr, 0), others) << "other code waits for it";
}

TEST_P(ChildSource, AStopBeforeTheWaitIsToldAndACancelledWaitTakesNone) {
    child_source source(loop());
    process_handle child = spawn(sleeper());
    child.send_signal(SIGSTOP);
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid()), &info, WSTOPPED | WNOWAIT), 0);
    child_recorder cancelled;
    wait_change(source, cancelled, child);
    cancelled.wait.cancel();
    settle();
    child_recorder r;
    wait_change(source, r, child);
    ASSERT_TRUE(told(r));
    EXPECT_EQ(r.events[0].what, child_change::stopped);
    EXPECT_FALSE(cancelled.ended());
}

TEST_P(ChildSource, OneThatFollowsAChildIsToldNothingOfItThatWasOfAnother) {
    child_source source(loop());
    process_handle followed = spawn(sleeper());
    process_handle another = spawn(sleeper());
    child_recorder r;
    r.wait.follow(followed);
    wait_change(source, r, another);
    settle();
    EXPECT_FALSE(another.send_signal(SIGSTOP));
    ASSERT_TRUE(told(r));
    wait_change(source, r, followed);
    settle();
    EXPECT_EQ(r.events.size(), 1U);
    EXPECT_FALSE(followed.send_signal(SIGSTOP));
    ASSERT_TRUE(told(r, 2));
    EXPECT_EQ(r.events[1].what, child_change::stopped);
}

TEST_P(ChildSource, OneThatFollowedAChildIsToldNothingOfItThatWasOfOneBefore) {
    child_source source(loop());
    child_recorder r;
    {
        process_handle gone = spawn(sleeper());
        r.wait.follow(gone);
        wait_change(source, r, gone);
        settle();
        EXPECT_FALSE(gone.send_signal(SIGSTOP));
        ASSERT_TRUE(told(r));
    }
    ASSERT_TRUE(all_reaped());
    process_handle fresh = spawn(sleeper());  // most often in the memory of the other
    wait_change(source, r, fresh);
    settle();
    EXPECT_EQ(r.events.size(), 1U);
    EXPECT_FALSE(fresh.send_signal(SIGSTOP));
    ASSERT_TRUE(told(r, 2));
}

TEST_P(ChildSource, AnEndThatItToldRightBeforeADrainIsToldToThoseWhoWaitLater) {
    child_source source(loop());
    process_reservation reserved;
    process_handle process;
    ASSERT_FALSE(process_reservation::make(loop(), sleeper(), reserved));
    kernel::fail(kernel::call::epoll_ctl, ENOSPC);  // other engines have room
    ASSERT_FALSE(reserved.spawn(process));
    kernel::fail_nothing();
    child_recorder r([this](child_recorder&) { loop().stop(); });
    wait_change(source, r, process);
    settle();
    EXPECT_FALSE(process.send_signal(SIGKILL));
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(process.pid()), &info, WEXITED | WNOWAIT), 0);
    loop().run(run_mode::drained);
    EXPECT_EQ(r.events.size(), 1U);
    EXPECT_EQ(end_of(process).signal, SIGKILL);
}

TEST_P(ChildSource, StopsOfAStrangerAreUnsupported) {
    child_source source(loop());
    process_handle stranger;
    ASSERT_FALSE(process_handle::adopt(loop(), ::getppid(), stranger));
    child_recorder r;
    EXPECT_EQ(source.wait_change(r.wait, stranger), errc::process_not_child);
    EXPECT_EQ(source.wait_change(r.wait, stranger), std::errc::not_supported);
    EXPECT_EQ(source.wait_change(r.wait, process_handle()), std::errc::bad_file_descriptor);
    EXPECT_FALSE(r.wait.pending());
}

TEST_P(ChildSource, APendingWaitIsAsGoodAsAHandle) {
    child_source source(loop());
    process_handle child = spawn(sleeper());
    child_recorder r;
    wait_change(source, r, child);
    const pid_t pid = child.pid();
    child.close();
    settle();
    ASSERT_EQ(::kill(pid, SIGSTOP), 0);
    ASSERT_TRUE(told(r));
    EXPECT_EQ(r.events[0].what, child_change::stopped);
    EXPECT_TRUE(all_reaped()) << "the last handle kills";
}

TEST_P(ChildSource, RefusesWhereSigchldIsNotBlockedInAllThreads) {
    const int result = in_child([&] {
        eddy::loop home({.engine = GetParam()});
        std::binary_semaphore unblocked(0);
        std::binary_semaphore over(0);
        std::thread careless([&] {
            const sigset_t mine = signal_set{SIGCHLD}.native();
            ::pthread_sigmask(SIG_UNBLOCK, &mine, nullptr);
            unblocked.release();
            over.acquire();
        });
        unblocked.acquire();
        EXPECT_EQ(refusal(home), errc::signal_not_blocked);
        over.release();
        careless.join();
        EXPECT_EQ(refusal(home), std::error_code());
        const sigset_t mine = signal_set{SIGCHLD}.native();
        ::pthread_sigmask(SIG_UNBLOCK, &mine, nullptr);
        EXPECT_EQ(refusal(home), errc::signal_not_blocked);
        return 0;
    });
    EXPECT_EQ(result, 0);
}

TEST_P(ChildSource, RefusesWhereTheDispositionHidesChildren) {
    const int result = in_child([&] {
        eddy::loop home({.engine = GetParam()});
        struct sigaction action{};
        action.sa_handler = SIG_IGN;
        ::sigaction(SIGCHLD, &action, nullptr);
        EXPECT_EQ(refusal(home), errc::signal_ignored);
        action.sa_handler = [](int) {};
        action.sa_flags = SA_NOCLDSTOP;
        ::sigaction(SIGCHLD, &action, nullptr);
        EXPECT_EQ(refusal(home), errc::children_hidden);
        action.sa_flags = SA_NOCLDWAIT;
        ::sigaction(SIGCHLD, &action, nullptr);
        EXPECT_EQ(refusal(home), errc::children_hidden);
        action.sa_flags = 0;
        ::sigaction(SIGCHLD, &action, nullptr);
        EXPECT_EQ(refusal(home), std::error_code());
        return 0;
    });
    EXPECT_EQ(result, 0);
}

TEST_P(ChildSource, ASignalSourceBesideItGetsSigchldAndSoDoesIt) {
    for (const bool source_first : {true, false}) {
        std::unique_ptr<child_source> children;
        std::unique_ptr<signal_source> signals;
        if (source_first) {
            children = std::make_unique<child_source>(loop());
        }
        signals = std::make_unique<signal_source>(loop(), signal_set{SIGCHLD});
        if (!source_first) {
            children = std::make_unique<child_source>(loop());
        }
        for (int i = 0; i != 10; ++i) {
            signal_recorder signal;
            child_recorder child;
            ASSERT_FALSE(signals->wait(signal.wait, SIGCHLD));
            wait_any(*children, child);
            if (i % 2 != 0) {
                settle();  // both wait in the kernel, and either may be first
            }
            const pid_t pid = fork_child(0);
            ASSERT_TRUE(until([&] { return signal.ended() && child.ended(); }));
            EXPECT_EQ(child.events.at(0).pid, pid);
            EXPECT_EQ(signal.signals().at(0).signum, SIGCHLD);
            EXPECT_EQ(signal.signals().at(0).code, CLD_EXITED);
            EXPECT_EQ(signal.signals().at(0).pid, pid);
        }
    }
}

TEST_P(ChildSource, ASignalThatItHasReadIsStillThereForWhoeverComesLater) {
    auto children = std::make_unique<child_source>(loop());
    child_recorder r;
    wait_any(*children, r);
    settle();
    fork_child(0);
    ASSERT_TRUE(told(r));
    settle();
    {
        signal_source late(loop(), {SIGCHLD});
        signal_recorder signal;
        ASSERT_FALSE(late.wait(signal.wait, SIGCHLD));
        ASSERT_TRUE(until([&] { return signal.ended(); }));
    }
    child_recorder second;
    wait_any(*children, second);
    settle();
    const pid_t pid = fork_child(4);
    ASSERT_TRUE(told(second));
    settle();
    EXPECT_FALSE(is_pending(SIGCHLD));
    children.reset();
    ASSERT_TRUE(is_pending(SIGCHLD)) << "the last one puts it back";
    const sigset_t set = signal_set{SIGCHLD}.native();
    siginfo_t info{};
    const timespec at_once{};
    ASSERT_EQ(::sigtimedwait(&set, &info, &at_once), SIGCHLD);
    EXPECT_EQ(info.si_pid, pid);
    EXPECT_EQ(info.si_code, CLD_EXITED);
    EXPECT_EQ(info.si_status, 4);
}

TEST_P(ChildSource, TheLastOnePutsItBackFromAnyThread) {
    auto children = std::make_unique<child_source>(loop());
    child_recorder r;
    wait_any(*children, r);
    settle();
    fork_child(0);
    ASSERT_TRUE(told(r));
    settle();
    ASSERT_FALSE(is_pending(SIGCHLD));
    std::thread([&] { children.reset(); }).join();
    EXPECT_TRUE(is_pending(SIGCHLD));
}

TEST_P(ChildSource, SurvivesOthersWhoReapFirst) {
    const bool kept = keeps_status();
    child_source source(loop());
    process_handle child = spawn(sleeper());
    child_recorder any;
    child_recorder one;
    wait_any(source, any);
    wait_change(source, one, child);
    settle();
    const pid_t gone = fork_child(1);
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(gone), &info, WEXITED), 0);
    child.send_signal(SIGKILL);
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED), 0);
    ASSERT_TRUE(told(one));
    EXPECT_EQ(one.events.at(0).what, child_change::ended);
    EXPECT_FALSE(one.events[0].status.has_usage);
    EXPECT_EQ(one.events[0].status.known, kept);
    EXPECT_EQ(one.events[0].status.signal, kept ? SIGKILL : 0);
    settle();
    EXPECT_FALSE(any.ended());
    const pid_t pid = fork_child(2);
    ASSERT_TRUE(told(any));
    EXPECT_EQ(any.events[0].pid, pid);
}

TEST_P(ChildSource, WaitsEndWithTheSourceAndWithTheLoop) {
    auto source = std::make_unique<child_source>(loop());
    process_handle child = spawn(sleeper());
    child_recorder any;
    child_recorder one;
    wait_any(*source, any);
    wait_change(*source, one, child);
    settle();
    loop().stop();
    loop().run(run_mode::drained);
    ASSERT_EQ(any.errors.size(), 1U);
    ASSERT_EQ(one.errors.size(), 1U);
    EXPECT_TRUE(any.wait.loop_ends());
    wait_any(*source, any);
    wait_change(*source, one, child);
    settle();
    source.reset();
    ASSERT_EQ(any.errors.size(), 2U);
    EXPECT_EQ(any.errors[1], std::errc::operation_canceled);
    EXPECT_FALSE(any.wait.loop_ends());
    EXPECT_EQ(one.errors.size(), 2U);
}

TEST_P(ChildSource, KeepsTheLoopGoingOnlyWhileSomebodyWaits) {
    child_source source(loop());
    loop().run(run_mode::empty);
    child_recorder r;
    wait_any(source, r);
    settle();
    fork_child(0);
    loop().run(run_mode::empty);
    EXPECT_EQ(r.events.size(), 1U);
}

TEST_P(ChildSource, AfterForkWhoeverHasTheSignalIsToldByThoseWhoReadIt) {
    signal_source source(loop(), SIGCHLD);
    signal_recorder before;
    ASSERT_FALSE(source.wait(before.wait, SIGCHLD));
    settle();
    const int result = in_child([&] {
        loop().after_fork_in_child();
        EXPECT_TRUE(until([&] { return before.ended(); }));
        signal_recorder mine;
        EXPECT_FALSE(source.wait(mine.wait, SIGCHLD));
        settle();
        eddy::loop other({.engine = GetParam()});
        child_source children(other);
        child_recorder any;
        EXPECT_FALSE(children.wait_any(any.wait));
        fork_child(0);
        for (int i = 0; i != 5000 && !any.ended(); ++i) {
            other.run_for(1ms);
        }
        EXPECT_EQ(any.events.size(), 1U);
        EXPECT_TRUE(until([&] { return mine.ended(); }));
        EXPECT_EQ(mine.signals().size(), 1U);
        source.detach();
        return 0;
    });
    EXPECT_EQ(result, 0);
}

TEST_P(ChildSource, OfAForkedChildIsOfNoUseAndDoesNoHarm) {
    auto source = std::make_unique<child_source>(loop());
    child_recorder r;
    wait_any(*source, r);
    settle();
    const int result = in_child([&] {
        loop().after_fork_in_child();
        loop().run_for(1ms);
        EXPECT_EQ(r.errors.size(), 1U);
        EXPECT_EQ(source->wait_any(r.wait), errc::forked);
        child_source fresh(loop());
        child_recorder mine;
        EXPECT_FALSE(fresh.wait_any(mine.wait));
        const pid_t pid = fork_child(0);
        EXPECT_TRUE(until([&] { return mine.ended(); }));
        EXPECT_EQ(mine.events.at(0).pid, pid);
        return 0;
    });
    EXPECT_EQ(result, 0);
    EXPECT_EQ(in_child([&] {
                  source.reset();
                  end_loop();
                  EXPECT_FALSE(r.ended());
                  return 0;
              }),
              0);
    r.wait.cancel();
    settle();
}

}  // namespace
}  // namespace eddy::test::child_source_test
