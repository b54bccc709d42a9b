// SPDX-License-Identifier: Apache-2.0
#include "loop/loop_fixture.hpp"

#include <latch>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

namespace eddy::test::misuse_test {
namespace {

/// Misuse is an assertion with a message that says what to do instead.
class LoopMisuseDeathTest : public ::testing::TestWithParam<engine_kind> {
protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        if (GetParam() == engine_kind::io_uring) {
            try {
                const loop probe({.engine = engine_kind::io_uring});
            } catch (const std::system_error& e) {
                GTEST_SKIP() << e.what();
            }
        }
    }
    loop_options options() const { return {.engine = GetParam(), .name = "mine"}; }
};
EDDY_ON_EVERY_ENGINE(LoopMisuseDeathTest);

TEST_P(LoopMisuseDeathTest, DestroyingAPostedEntry) {
    EXPECT_DEATH(
        {
            loop l(options());
            entry e;
            l.post(e);
        },
        "an entry was destroyed while it was posted");
}

TEST_P(LoopMisuseDeathTest, DestroyingAnArmedTimer) {
    EXPECT_DEATH(
        {
            loop l(options());
            alarm t(l);
            l.post_after(1h, t);
            l.poll();
        },
        "a timer was destroyed while it was armed");
}

TEST_P(LoopMisuseDeathTest, DestroyingATimerThatTheLoopHasNotTakenYet) {
    EXPECT_DEATH(
        {
            loop l(options());
            alarm t(l);
            l.post_after(1h, t);
        },
        "a timer was destroyed while it was armed");
}

TEST_P(LoopMisuseDeathTest, DestroyingAPendingOperation) {
    EXPECT_DEATH(
        {
            loop l(options());
            fd_pair ends = make_pipe();
            descriptor from(l, std::move(ends.first));
            std::string buffer(8, '\0');
            io_operation reading;
            l.start(reading, read(from, bytes(buffer)));
        },
        "an I/O operation was destroyed while it was pending");
}

TEST_P(LoopMisuseDeathTest, PostingTwice) {
    EXPECT_DEATH(
        {
            loop l(options());
            entry e;
            l.post(e);
            l.post(e);
        },
        "an entry was posted that is posted already");
    EXPECT_DEATH(
        {
            loop l(options());
            entry e;
            l.post_next(e);
            l.post_next(e);
        },
        "an entry was posted that is posted already");
}

TEST_P(LoopMisuseDeathTest, StartingAnOperationTwice) {
    EXPECT_DEATH(
        {
            loop l(options());
            fd_pair ends = make_pipe();
            descriptor from(l, std::move(ends.first));
            std::string buffer(8, '\0');
            recorder reading;
            reading.start(l, read(from, bytes(buffer)));
            reading.start(l, read(from, bytes(buffer)));
        },
        "an operation was started that is pending already");
}

TEST_P(LoopMisuseDeathTest, RunningALoopInsideItsOwnCallback) {
    EXPECT_DEATH(
        {
            loop l(options());
            job work([&] { l.poll(); });
            l.post(work);
            l.run();
        },
        "a loop was run from inside one of its own callbacks");
}

TEST_P(LoopMisuseDeathTest, RunningALoopInsideALoopInsideItsOwnCallback) {
    EXPECT_DEATH(
        {
            loop outer(options());
            loop inner(options());
            job deep([&] { outer.poll(); });
            job work([&] {
                inner.post(deep);
                inner.run();
            });
            outer.post(work);
            outer.run();
        },
        "a loop was run from inside one of its own callbacks");
}

TEST_P(LoopMisuseDeathTest, DestroyingALoopInsideItsOwnCallback) {
    EXPECT_DEATH(
        {
            auto l = std::make_unique<loop>(options());
            job work([&] { l.reset(); });
            l->post(work);
            l->run();
        },
        "a loop was destroyed from inside one of its own callbacks");
}

TEST_P(LoopMisuseDeathTest, ADescriptorThatOutlivesItsLoop) {
    EXPECT_DEATH(
        {
            auto l = std::make_unique<loop>(options());
            fd_pair ends = make_pipe();
            descriptor from(*l, std::move(ends.first), {.name = "the pipe"});
            l.reset();
        },
        "the loop 'mine' was destroyed before descriptor [0-9]+ 'the pipe'");
}

TEST_P(LoopMisuseDeathTest, WhatCannotBeEndedIsNamed) {
    if (GetParam() != engine_kind::io_uring) {
        GTEST_SKIP() << "only a ring belongs to a thread";
    }
    const auto destroy_elsewhere = [this] {
        auto l = std::make_unique<loop>(options());
        auto [first, second] = make_pipe();
        descriptor end(*l, std::move(first), {.name = "the pipe"});
        std::byte buffer[1];
        recorder reading;
        reading.start(*l, read(end, buffer));
        alarm stubborn(*l);
        stubborn.set_name("the stubborn one");
        l->post_after(1h, stubborn);
        l->poll();
        std::thread([&] { l.reset(); }).join();
    };
    EXPECT_DEATH(destroy_elsewhere(),
                 "cannot be ended: read 'the pipe' on fd [0-9]+; timer 'the stubborn one'");
}

TEST_P(LoopMisuseDeathTest, SettingATimerOnAnotherLoop) {
    EXPECT_DEATH(
        {
            loop l(options());
            loop other(options());
            alarm t(l);
            other.post_after(1h, t);
        },
        "a timer was set on a loop that it does not belong to");
}

TEST_P(LoopMisuseDeathTest, DisarmingATimerOfAnotherLoop) {
    EXPECT_DEATH(
        {
            loop l(options());
            loop other(options());
            alarm t(l);
            l.post_after(1h, t);
            l.poll();
            other.disarm(t);
        },
        "does not belong");
}

TEST_P(LoopMisuseDeathTest, UsingALocalTimerOnAnotherLoopOrDestroyingAnArmedOne) {
    const auto nothing = [](local_timer&) noexcept {};
    const auto wrong = [&](auto use) {
        loop l(options());
        loop other(options());
        local_timer t(l, nothing);
        use(l, other, t);
    };
    EXPECT_DEATH(wrong([](loop&, loop& other, local_timer& t) { other.post_after(1h, t); }),
                 "a timer was set on a loop that it does not belong to");
    EXPECT_DEATH(wrong([](loop& l, loop& other, local_timer& t) {
                     l.post_after(1h, t);
                     other.disarm(t);
                 }),
                 "does not belong");
    EXPECT_DEATH(wrong([](loop& l, loop&, local_timer& t) { l.post_after(1h, t); }),
                 "a timer was destroyed while it was armed");
}

TEST_P(LoopMisuseDeathTest, SettingALocalTimerOnAThreadThatDoesNotRunItsLoop) {
    EXPECT_DEATH(
        {
            loop l(options());
            local_timer t(l, [](local_timer&) noexcept {});
            l.post([&] { std::thread([&] { l.post_after(1h, t); }).join(); });
            l.run_for(1s);
        },
        "by a thread that does not run its loop");
}

TEST_P(LoopMisuseDeathTest, SettingATimerByTheWrongClock) {
    EXPECT_DEATH(
        {
            loop l(options());
            alarm t(l);
            l.post_at(std::chrono::system_clock::now(), t);
        },
        "a steady-clock timer needs a steady time");
    EXPECT_DEATH(
        {
            loop l(options());
            alarm t(l, {}, {}, timer_clock::system);
            l.post_at(clock::now(), t);
        },
        "a system-clock timer needs a system time");
}

TEST_P(LoopMisuseDeathTest, PrioritiesOutOfRangeOrWhilePosted) {
    EXPECT_DEATH(
        {
            entry e;
            e.set_priority(64);
        },
        "bad time or value for a priority");
    EXPECT_DEATH(
        {
            loop l(options());
            entry e;
            l.post(e);
            e.set_priority(1);
        },
        "bad time or value for a priority");
}

TEST_P(LoopMisuseDeathTest, UsingALoopAfterForkWithoutTellingIt) {
    GTEST_FLAG_SET(death_test_style, "fast");  // the child that is to die is a fork of this process
    loop l(options());
    entry e;
    alarm t(l);
    local_timer own(l, [](local_timer&) noexcept {});
    unique_fd fd = make_pipe().first;
    const char* const message = "a loop is used after fork";
    EXPECT_DEATH(l.poll(), message);
    EXPECT_DEATH(l.stop(), message);
    EXPECT_DEATH(l.post(e), message);
    EXPECT_DEATH(l.post_next(e), message);
    EXPECT_DEATH(l.post_after(1h, t), message);
    EXPECT_DEATH(l.post_after(1h, own), message);
    EXPECT_DEATH(l.cancel(t), message);
    EXPECT_DEATH(descriptor(l, std::move(fd)), message);
}

TEST_P(LoopMisuseDeathTest, ReturningFromACallbackAfterForkWithoutTellingTheLoop) {
    EXPECT_DEATH(
        {
            loop l(options());
            local_timer t(l, [](local_timer&) noexcept {});
            job forking([&] {
                const pid_t child = ::fork();
                if (child != 0) {  // the process that is looked at ends as its child does
                    int status = 0;
                    ::waitpid(child, &status, 0);
                    ::_exit(WIFSIGNALED(status) ? 1 : 0);
                }
                l.post_after(1h, t);  // does not ask, but leads nowhere
            });
            l.post(forking);
            l.run_for(200ms);
            ::_exit(0);
        },
        "a loop is used after fork");
}

TEST_P(LoopMisuseDeathTest, StartingAnOperationOnADescriptorOfAnotherLoop) {
    EXPECT_DEATH(
        {
            loop l(options());
            loop other(options());
            fd_pair ends = make_pipe();
            descriptor from(l, std::move(ends.first));
            std::string buffer(8, '\0');
            recorder reading;
            reading.start(other, read(from, bytes(buffer)));
        },
        "another loop");
}

TEST_P(LoopMisuseDeathTest, RunningALoopOnTwoThreads) {
    EXPECT_DEATH(
        {
            loop l(options());
            std::latch running(1);
            job begun([&] { running.count_down(); });
            l.post(begun);
            std::thread thread([&] { l.run_for(500ms); });
            running.wait();
            l.run_for(50ms);
            thread.join();
        },
        "a loop was run by a thread while another runs it");
}

/// A thread that runs a loop, which has begun when this is made.
class running_thread {
public:
    explicit running_thread(loop& l) {
        std::latch running(1);
        job begun([&] { running.count_down(); });
        l.post(begun);
        thread_ = std::thread([&] { l.run_for(patience); });
        running.wait();
    }
    ~running_thread() { thread_.join(); }

private:
    std::thread thread_;
};

TEST_P(LoopMisuseDeathTest, ClosingADescriptorWhileAnotherThreadRunsItsLoop) {
    const auto close_outside_any_loop = [] {
        auto [reader, writer] = make_pipe();
        loop l({.engine = GetParam(), .name = "server"});
        descriptor peer(l, std::move(reader), {.name = "peer"});
        const running_thread thread(l);
        peer.close();
    };
    EXPECT_DEATH(close_outside_any_loop(),
                 "fd [0-9]+ \\('peer'\\) of the loop 'server', which another thread is running, "
                 "was closed or destroyed by a thread that runs no loop: post that to the loop");
    const auto destroy_on_another_loop = [] {
        auto [reader, writer] = make_pipe();
        loop l({.engine = GetParam(), .name = "server"});
        loop other({.engine = GetParam(), .name = "client"});
        std::optional<descriptor> peer(std::in_place, l, std::move(reader));
        const running_thread thread(l);
        other.post([&] { peer.reset(); });
        other.poll();
    };
    EXPECT_DEATH(destroy_on_another_loop(),
                 "of the loop 'server'.* by a thread that runs the loop 'client'");
}

TEST_P(LoopMisuseDeathTest, ClosingADescriptorInsideALoopThatACallbackRunsIsNone) {
    auto [reader, writer] = make_pipe();
    loop outer(options());
    loop inner(options());
    descriptor peer(outer, std::move(reader));
    outer.post([&] {
        inner.post([&] { peer.close(); });
        inner.poll();
    });
    outer.poll();
    EXPECT_FALSE(peer);
}

TEST_P(LoopMisuseDeathTest, JoiningAGroupFromItsOwnThread) {
    EXPECT_DEATH(
        {
            loop_group group({.size = 1, .loop = options()});
            group.start();
            group.post([&] { group.join(); });
            group.join();
        },
        "a loop group was joined by its own thread");
}

TEST_P(LoopMisuseDeathTest, StartingAGroupTwice) {
    EXPECT_DEATH(
        {
            loop_group group({.size = 1, .loop = options()});
            group.start();
            group.start();
        },
        "a loop group was started that runs already");
}

TEST_P(LoopMisuseDeathTest, AGroupOfNoLoopsOrALoopThatIsNotThere) {
    EXPECT_DEATH(loop_group({.size = 0, .loop = options()}), "needs at least one loop");
    EXPECT_DEATH(
        {
            loop_group group({.size = 1, .loop = options()});
            group.at(1);
        },
        "there is no loop of this number");
}

}  // namespace
}  // namespace eddy::test::misuse_test
