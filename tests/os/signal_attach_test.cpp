// SPDX-License-Identifier: Apache-2.0
#include "os/signal_fixture.hpp"
#include "support/heard_reports.hpp"
#include "support/in_child.hpp"
#include "support/threads.hpp"

#include "kernel/call.hpp"

#include <eddy/os/block_signals.hpp>

#include <cerrno>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include <pthread.h>
#include <unistd.h>

namespace eddy::test::signal_attach_test {
namespace {

class SignalAttach : public SignalTest {
protected:
    /// What attaching throws, and says.
    std::string refusal(signal_set signals, signal_source_options options = {}) {
        try {
            signal_source source(loop(), signals, options);
        } catch (const std::system_error& e) {
            return e.what();
        }
        return "accepted";
    }
};
EDDY_ON_EVERY_ENGINE(SignalAttach);

TEST_P(SignalAttach, RefusesASignalThatIsNotBlockedInThisThread) {
    ASSERT_FALSE(is_blocked(SIGALRM));
    signal_source source(loop());
    EXPECT_EQ(source.attach({SIGALRM}), errc::signal_not_blocked);
    EXPECT_EQ(source.attach({SIGALRM}), std::errc::operation_not_permitted);
    EXPECT_NE(refusal({SIGALRM}).find("signal 14 (Alarm clock)"), std::string::npos);
    EXPECT_NE(refusal({SIGALRM}).find("block_signals"), std::string::npos);
}

/// Runs until the end of the block, and blocks no signal that it unblocks.
class careless_thread {
public:
    explicit careless_thread(int unblocked)
        : thread_([this, unblocked] {
              ::pthread_setname_np(::pthread_self(), "careless");
              sigset_t set;
              ::sigemptyset(&set);
              ::sigaddset(&set, unblocked);
              ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
              id_.set_value(::gettid());
              end_.get_future().wait();
          }) {}
    ~careless_thread() {
        end_.set_value();
        thread_.join();
    }
    careless_thread(const careless_thread&) = delete;
    careless_thread& operator=(const careless_thread&) = delete;

    std::string id() { return std::to_string(id_.get_future().get()); }

private:
    std::promise<pid_t> id_;
    std::promise<void> end_;
    std::thread thread_;
};

#ifndef NDEBUG
TEST_P(SignalAttach, ReportsAnotherThreadThatDoesNotBlockTheSignal) {
    const heard_reports reported;
    const thread_census census;
    {
        careless_thread other(SIGUSR1);
        const std::string id = other.id();
        const signal_source source(loop(), {SIGUSR1, SIGUSR2});
        EXPECT_EQ(reported.with("signal_source: thread " + id +
                                " ('careless') does not block signal 10 (User defined signal 1)"),
                  1U)
            << reported.all();
    }
    EXPECT_TRUE(until_driven([&] { return census.started().empty(); }));
    const signal_source source(loop(), {SIGUSR1, SIGUSR2});
    EXPECT_EQ(reported.lines().size(), 1U) << reported.all();
}
#endif

TEST_P(SignalAttach, RefusesSignalsThatKillEvenWhenTheyAreBlocked) {
    signal_set fatal{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGKILL, SIGSTOP};
    const blocked_signals blocked(fatal);
    fatal.for_each([&](int signum) {
        signal_source source(loop());
        EXPECT_EQ(source.attach(signal_set{signum}), errc::signal_not_waitable) << signum;
    });
    EXPECT_NE(refusal({SIGSEGV}).find("cannot be waited for"), std::string::npos);
}

/// Ignores a signal until the end of the block.
class ignored_signal {
public:
    explicit ignored_signal(int signum) : signum_(signum) { ignore(&before_); }
    ~ignored_signal() {
        ignore(nullptr);  // which throws away what is pending
        ::sigaction(signum_, &before_, nullptr);
    }
    ignored_signal(const ignored_signal&) = delete;
    ignored_signal& operator=(const ignored_signal&) = delete;

private:
    void ignore(struct sigaction* before) const {
        struct sigaction ignored{};
        ignored.sa_handler = SIG_IGN;
        ::sigaction(signum_, &ignored, before);
    }

    int signum_;
    struct sigaction before_{};
};

TEST_P(SignalAttach, RefusesASignalThatIsIgnoredIfTheSourceIsStrict) {
    signal_source source(loop(), {.strict = true});
    {
        const ignored_signal ignored(SIGUSR1);
        EXPECT_EQ(source.attach({SIGUSR1, SIGUSR2}), errc::signal_ignored);
        EXPECT_TRUE(source.signals().empty());
        EXPECT_NE(refusal({SIGUSR1}, {.strict = true}).find("is ignored"), std::string::npos);
    }
    EXPECT_EQ(source.attach({SIGUSR1}), std::error_code());
}

TEST_P(SignalAttach, LeavesAnIgnoredSignalToWhoeverIgnoresItAndTakesTheOthers) {
    const ignored_signal ignored(SIGUSR1);
    signal_source source(loop(), {SIGUSR1, SIGUSR2});
    EXPECT_EQ(source.signals(), (signal_set{SIGUSR1, SIGUSR2}));
    EXPECT_EQ(source.ignored(), signal_set{SIGUSR1});
    signal_recorder either;
    signal_recorder never_comes;
    wait(source, either, signal_set{SIGUSR1, SIGUSR2});
    wait(source, never_comes, SIGUSR1);
    settle();
    send_signal(SIGUSR1);  // it is blocked, so the kernel keeps it although it is ignored
    send_signal(SIGUSR2);
    ASSERT_TRUE(ends(either));
    EXPECT_EQ(either.signals().at(0).signum, SIGUSR2);
    settle();
    EXPECT_TRUE(never_comes.wait.pending());
    source.detach();
    EXPECT_TRUE(ended_canceled(never_comes));
    EXPECT_TRUE(is_pending(SIGUSR1)) << "an ignored signal was read";
}

TEST_P(SignalAttach, AnIgnoredSignalNeedNotBeBlockedAndHasNoOwner) {
    ASSERT_FALSE(is_blocked(SIGALRM));
    const ignored_signal ignored(SIGALRM);
    signal_source one(loop(), {SIGALRM});
    signal_source two(loop(), {SIGALRM});
    EXPECT_EQ(two.ignored(), signal_set{SIGALRM});
}

TEST_P(SignalAttach, AWaitForAnIgnoredSignalEndsWithTheLoop) {
    const ignored_signal ignored(SIGUSR1);
    eddy::loop short_lived({.engine = GetParam()});
    signal_source source(short_lived, {SIGUSR1});
    signal_recorder r;
    wait(source, r, SIGUSR1);
    short_lived.poll();
    EXPECT_TRUE(r.wait.pending());
    short_lived.stop();
    short_lived.run(run_mode::drained);
    EXPECT_TRUE(ended_canceled(r));
    EXPECT_TRUE(r.wait.loop_ends());
}

TEST_P(SignalAttach, IgnoringASignalThrowsAwayWhatIsPending) {
    send_signal(SIGUSR1);
    EXPECT_TRUE(is_pending(SIGUSR1));
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    struct sigaction before{};
    ::sigaction(SIGUSR1, &ignore, &before);
    EXPECT_FALSE(is_pending(SIGUSR1));
    ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_P(SignalAttach, RefusesASignalThatAnotherSourceHasOnThisLoopOrAnother) {
    signal_source first(loop(), {SIGUSR1});
    eddy::loop other({.engine = GetParam()});
    signal_source second(other);
    EXPECT_EQ(second.attach({SIGUSR1}), errc::signal_has_owner);
    EXPECT_EQ(second.attach({SIGUSR1}), std::errc::device_or_resource_busy);
    EXPECT_NE(refusal({SIGUSR1}).find("another signal_source"), std::string::npos);
    first.detach();
    EXPECT_EQ(second.attach({SIGUSR1}), std::error_code());
    EXPECT_EQ(first.attach({SIGUSR1}), errc::signal_has_owner);
}

TEST_P(SignalAttach, AttachesAllOrNone) {
    signal_source source(loop());
    const std::size_t fds = open_fds();
    EXPECT_EQ(source.attach({SIGUSR1, SIGUSR2, SIGALRM}), errc::signal_not_blocked);
    EXPECT_TRUE(source.signals().empty());
    settle();
    EXPECT_EQ(open_fds(), fds);
    signal_source another(loop(), {SIGUSR1, SIGUSR2});
    EXPECT_EQ(another.signals(), (signal_set{SIGUSR1, SIGUSR2}));
}

TEST_P(SignalAttach, MayAttachMoreAndTheSameAgain) {
    signal_source source(loop(), {SIGUSR1});
    EXPECT_EQ(source.attach({SIGUSR1, SIGUSR2}), std::error_code());
    EXPECT_EQ(source.signals(), (signal_set{SIGUSR1, SIGUSR2}));
}

TEST_P(SignalAttach, ReportsThatThereAreNoDescriptorsLeft) {
    signal_source source(loop());
    kernel::fail(kernel::call::signalfd, EMFILE);
    EXPECT_EQ(source.attach({SIGUSR1}), std::errc::too_many_files_open);
    kernel::fail_nothing();
    EXPECT_EQ(source.attach({SIGUSR1}), std::error_code());
}

TEST_P(SignalAttach, WaitingForWhatIsNotAttachedIsAnError) {
    signal_source source(loop(), {SIGUSR1});
    signal_recorder r;
    EXPECT_EQ(source.wait(r.wait, SIGUSR2), errc::signal_not_attached);
    EXPECT_EQ(source.wait(r.wait, signal_set{SIGUSR1, SIGUSR2}), errc::signal_not_attached);
    EXPECT_EQ(source.wait(r.wait, 0), errc::signal_not_attached);
    EXPECT_EQ(source.wait(r.wait, 1000), errc::signal_not_attached);
    EXPECT_EQ(source.wait(r.wait, signal_set()), std::errc::invalid_argument);
    EXPECT_FALSE(r.wait.pending());
}

TEST_P(SignalAttach, DetachingEndsWaitsLeavesTheMaskAndWhatIsPending) {
    signal_source source(loop(), {SIGUSR1, SIGUSR2});
    signal_recorder one;
    signal_recorder both;
    signal_recorder other;
    wait(source, one, SIGUSR1);
    wait(source, both, signal_set{SIGUSR1, SIGUSR2});
    wait(source, other, SIGUSR2);
    settle();
    send_signal(SIGUSR1);
    source.detach({SIGUSR1});
    EXPECT_TRUE(ended_canceled(one));
    EXPECT_TRUE(ended_canceled(both));
    EXPECT_FALSE(one.wait.loop_ends());
    EXPECT_TRUE(other.wait.pending());
    EXPECT_TRUE(is_blocked(SIGUSR1));
    EXPECT_TRUE(is_pending(SIGUSR1)) << "the signal was dropped";
    EXPECT_EQ(source.signals(), signal_set{SIGUSR2});

    signal_source next(loop(), {SIGUSR1});
    signal_recorder late;
    wait(next, late, SIGUSR1);
    ASSERT_TRUE(ends(late));
    EXPECT_EQ(late.signals().at(0).signum, SIGUSR1);
    send_signal(SIGUSR2);
    ASSERT_TRUE(ends(other));
    EXPECT_EQ(other.signals().size(), 1U);
}

TEST_P(SignalAttach, DetachingFromInsideACompletionIsAllowed) {
    auto source = std::make_unique<signal_source>(loop(), signal_set{SIGUSR1, SIGUSR2});
    signal_recorder other;
    signal_recorder first([&](signal_recorder&) { source.reset(); });
    wait(*source, first, SIGUSR1);
    wait(*source, other, signal_set{SIGUSR1, SIGUSR2});
    send_signal(SIGUSR1);
    ASSERT_TRUE(ends(first));
    EXPECT_EQ(first.signals().size(), 1U);
    EXPECT_EQ(other.errors().size(), 1U);
    EXPECT_FALSE(other.wait.pending());
}

TEST_P(SignalAttach, ACompletionOfADetachMayDestroyTheOtherWaits) {
    signal_source source(loop(), {SIGUSR1});
    auto second = std::make_unique<signal_recorder>();
    signal_recorder first([&](signal_recorder&) { second.reset(); });
    wait(source, first, SIGUSR1);
    wait(source, *second, SIGUSR1);
    source.detach();
    EXPECT_EQ(first.errors().size(), 1U);
    EXPECT_EQ(second, nullptr);
}

TEST_P(SignalAttach, TheMaskIsRestoredOnlyOnRequestAndThenDeliversPendingSignals) {
    const auto killed_by_it = [&](mask_after mask) {
        return in_child([&] {
            block_signals({SIGALRM, SIGUSR1});
            eddy::loop home({.engine = GetParam()});
            signal_source source(home, {SIGALRM, SIGUSR1});
            send_signal(SIGALRM);
            source.detach({SIGALRM, SIGUSR1}, mask);
            EXPECT_TRUE(is_blocked(SIGUSR1)) << "it was blocked before";
            return is_blocked(SIGALRM) && is_pending(SIGALRM) ? 0 : 1;
        });
    };
    EXPECT_EQ(killed_by_it(mask_after::blocked), 0);
    EXPECT_EQ(killed_by_it(mask_after::restored), 1000 + SIGALRM);
}

TEST_P(SignalAttach, ItsDescriptorsAreNotInherited) {
    const auto inherited = [] {
        int count = 0;
        for (int fd = 0; fd != 64; ++fd) {
            count += is_open(fd) && !is_cloexec(fd) ? 1 : 0;
        }
        return count;
    };
    const int before = inherited();
    signal_source source(loop(), {SIGUSR1});
    EXPECT_EQ(inherited(), before);
}

}  // namespace
}  // namespace eddy::test::signal_attach_test
