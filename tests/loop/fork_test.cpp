// SPDX-License-Identifier: Apache-2.0
#include "loop/loop_fixture.hpp"
#include "support/in_child.hpp"

#include <memory>
#include <optional>

#include <sys/wait.h>
#include <unistd.h>

namespace eddy::test::fork_test {
namespace {

constexpr auto canceled = std::errc::operation_canceled;

/// A loop with one of everything pending, as a fork finds it.
class LoopFork : public LoopTest {
protected:
    void SetUp() override {
        LoopTest::SetUp();
        if (IsSkipped()) {
            return;
        }
        auto [near, peer] = unix_stream_pair();
        peer_ = std::move(peer);
        socket_.emplace(attach(std::move(near)));
        ring_.emplace(loop());
        clock_ring_.emplace(loop(), nullptr, nullptr, timer_clock::system);
        start(receiving_, recv(*socket_, bytes(buffer_)));
        loop().post_after(20ms, *ring_);
        loop().post_at(std::chrono::system_clock::now() + 20ms, *clock_ring_);
        loop().poll();
        loop().post(posted_);
    }
    void TearDown() override {
        socket_.reset();
        end_loop();
        peer_.reset();
        LoopTest::TearDown();
    }

    /// The parent's events come as if nothing had been.
    void expect_unaffected() {
        send_all(peer_.get(), "x");
        EXPECT_TRUE(until([&] {
            return receiving_.ended() && posted_.runs == 1 && ring_->runs == 1 &&
                   clock_ring_->runs == 1;
        }));
        EXPECT_EQ(receiving_.count(), 1U);
    }

    unique_fd peer_;
    std::optional<descriptor> socket_;
    std::string buffer_ = std::string(8, '\0');
    recorder receiving_;
    job posted_;
    std::optional<alarm> ring_;
    std::optional<alarm> clock_ring_;
};
EDDY_ON_EVERY_ENGINE(LoopFork);

TEST_P(LoopFork, AChildThatDestroysTheLoopCallsNothingAndLeavesTheParentAlone) {
    const int ended = in_child([&] {
        socket_.reset();
        end_loop();
        EXPECT_EQ(receiving_.endings(), 0U);
        EXPECT_FALSE(receiving_.operation().pending());
        EXPECT_EQ(posted_.runs + posted_.cancels, 0);
        EXPECT_FALSE(posted_.posted());
        EXPECT_EQ(ring_->runs + ring_->cancels + clock_ring_->cancels, 0);
        EXPECT_FALSE(ring_->armed());
        return 0;
    });
    EXPECT_EQ(ended, 0);
    expect_unaffected();
}

TEST_P(LoopFork, AChildThatJustExitsLeavesTheParentAlone) {
    EXPECT_EQ(in_child([] { return 0; }), 0);
    expect_unaffected();
}

TEST_P(LoopFork, InAChildThatGoesOnIoEndsWithCanceledAndTheRestLives) {
    const int ended = in_child([&] {
        loop().after_fork_in_child();
        EXPECT_TRUE(ends(receiving_));
        EXPECT_EQ(receiving_.error(), canceled);
        EXPECT_TRUE(
            until([&] { return posted_.runs == 1 && ring_->runs == 1 && clock_ring_->runs == 1; }));
        EXPECT_EQ(receiving_.endings(), 1U);
        return 0;
    });
    EXPECT_EQ(ended, 0);
    expect_unaffected();
}

TEST_P(LoopFork, InAChildThatGoesOnDescriptorsAreUsable) {
    const int ended = in_child([&] {
        loop().after_fork_in_child();
        ends(receiving_);
        recorder sending;
        start(sending, send(*socket_, bytes("child")));
        EXPECT_TRUE(ends(sending));
        start(receiving_, recv(*socket_, bytes(buffer_)));
        loop().poll();
        send_all(peer_.get(), "back");
        EXPECT_TRUE(ends(receiving_));
        EXPECT_EQ(receiving_.count(), 4U);

        auto [reader, writer] = make_pipe();
        descriptor from = attach(std::move(reader));
        recorder reading;
        start(reading, read(from, bytes(buffer_)));
        loop().poll();
        write_all(writer.get(), "new");
        EXPECT_TRUE(ends(reading));
        EXPECT_EQ(reading.count(), 3U);
        return 0;
    });
    EXPECT_EQ(ended, 0);
    EXPECT_EQ(recv_exactly(peer_.get(), 5), "child");
    expect_unaffected();
}

TEST_P(LoopFork, AChildsSystemTimersAreNotTheParents) {
    const int ended = in_child([&] {
        loop().after_fork_in_child();
        loop().post_at(std::chrono::system_clock::now() + 1h, *clock_ring_);
        loop().poll();
        return 0;
    });
    EXPECT_EQ(ended, 0);
    expect_unaffected();
}

TEST_P(LoopFork, AChildsPostsDoNotWakeTheParent) {
    loop().run_for(0ns);
    const int ended = in_child([&] {
        loop().after_fork_in_child();
        loop().stop();
        loop().run();
        return 0;
    });
    EXPECT_EQ(ended, 0);
    const auto wakes = loop().counters().wakes;
    loop().run_for(2ms);
    EXPECT_EQ(loop().counters().wakes, wakes);
}

TEST_P(LoopFork, AChildThatGoesOnDestroysItsLoopAsUsual) {
    const int ended = in_child([&] {
        loop().after_fork_in_child();
        receiving_.then([&](recorder&) { socket_.reset(); });
        end_loop();
        EXPECT_EQ(receiving_.error(), canceled);
        EXPECT_EQ(posted_.cancels, 1);
        EXPECT_EQ(ring_->cancels, 1);
        return 0;
    });
    EXPECT_EQ(ended, 0);
    expect_unaffected();
}

TEST_P(LoopFork, AForkInACallbackGoesOnInTheChild) {
    int in_the_child = -1;
    job forking([&] {
        in_the_child = in_child([&]() -> int {
            loop().after_fork_in_child();
            job after;
            loop().post(after);
            EXPECT_TRUE(after.posted());
            loop().cancel(after);
            ::_exit(::testing::Test::HasFailure() ? 1 : 0);
        });
    });
    loop().post(forking);
    until([&] { return forking.runs == 1; });
    EXPECT_EQ(in_the_child, 0);
    expect_unaffected();
}

TEST_P(LoopFork, AForkInACallbackGoesOnInTheSameRunOfTheChild) {
    const int ended = in_child([&] {
        eddy::loop l({.engine = GetParam()});
        pid_t child = -1;
        job after;
        alarm ring(l, [&] { l.stop(); });
        job forking([&] {
            child = ::fork();
            if (child == 0) {
                ::alarm(static_cast<unsigned>(patience.count()));
                l.after_fork_in_child();
                l.post(after);
                l.post_after(20ms, ring);
            } else {
                l.stop();
            }
        });
        l.post(forking);
        const std::uint64_t turns = l.counters().turns;
        l.run();
        if (child == 0) {
            EXPECT_EQ(after.runs, 1);
            EXPECT_EQ(ring.runs, 1);
            EXPECT_LT(l.counters().turns - turns, 1000U);
            ::_exit(::testing::Test::HasFailure() ? 99 : 0);
        }
        int status = -1;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
        return 0;
    });
    EXPECT_EQ(ended, 0);
    expect_unaffected();
}

}  // namespace
}  // namespace eddy::test::fork_test
