// SPDX-License-Identifier: Apache-2.0
// Receives while all buffers are lent.
#include "engine/lease_fixture.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace eddy::test::lease_starving_test {
namespace {

class LeaseStarving : public LeaseTest {};
EDDY_ON_EVERY_ENGINE(LeaseStarving);

TEST_P(LeaseStarving, WaitsWithoutSpinningUntilOneIsBack) {
    make_loop(two_buffers);
    connection& last = starve();
    EXPECT_LT(turns_in(50ms), 20U);
    ASSERT_EQ(kept.size(), 2U);
    when_ready_call([this] { kept.erase(kept.begin()); });
    expect_fed(last, "2");
    EXPECT_EQ(out(), 2U);
}

TEST_P(LeaseStarving, IsToldWhenAnotherThreadGivesOneBack) {
    make_loop(two_buffers);
    connection& last = starve();
    lease given = std::move(kept[1]);
    std::thread other([&] {
        std::this_thread::sleep_for(20ms);
        given.reset();
    });
    expect_fed(last, "2");
    other.join();
    EXPECT_EQ(out(), 2U);
}

TEST_P(LeaseStarving, EndsIfItIsCancelledOrTimedOutOrAbandonedOrClosed) {
    make_loop(two_buffers);
    connection& last = starve();
    loop().cancel(last.reader.operation());
    ASSERT_TRUE(ends(last.reader));
    EXPECT_EQ(last.reader.error(), std::errc::operation_canceled);
    begin(last, clock::now() + 10ms);
    ASSERT_TRUE(ends(last.reader));
    EXPECT_EQ(last.reader.error(), errc::timed_out);
    begin(last);
    settle();
    loop().abandon(last.reader.operation());
    begin(last);
    settle();
    last.d.close();
    ASSERT_TRUE(ends(last.reader));
    EXPECT_EQ(last.reader.error(), std::errc::operation_canceled);
    kept.clear();
    EXPECT_EQ(out(), 0U);
}

TEST_P(LeaseStarving, MayBeCancelledBeforeItsTurn) {
    make_loop(two_buffers);
    connection& last = starve();
    loop().cancel(last.reader.operation());
    ASSERT_TRUE(ends(last.reader));
    for (int i = 0; i != 3; ++i) {
        begin(last);
        loop().cancel(last.reader.operation());
        ASSERT_TRUE(ends(last.reader));
        EXPECT_EQ(last.reader.error(), std::errc::operation_canceled);
    }
}

TEST_P(LeaseStarving, GetsOneThatTheFirstInTheQueueNeedsNoMore) {
    make_loop({.lease_count = 1, .lease_max = 1});
    connection& last = starve(1);
    when_ready_call([this] {
        kept.clear();
        loop().cancel(connections[1].reader.operation());
    });
    expect_fed(last, "2");
}

TEST_P(LeaseStarving, GetsTheOneMeantForTheFirstInTheQueueIfThatIsCancelled) {
    make_loop({.lease_count = 1, .lease_max = 1});
    connection& last = starve(1);
    kept.clear();
    connection& sooner = connect(make_pipe);
    sooner.send("x");
    sooner.reader.operation().set_priority(0);
    // It may have got it all the same, and gives it back then.
    recorder& first = connections[1].reader;
    first.then(nullptr);
    sooner.reader.then([&](recorder&) { loop().cancel(first.operation()); });
    start(sooner.reader, wait(sooner.d, interest::readable));
    expect_fed(last, "2");
    kept.clear();
    EXPECT_EQ(out(), 0U);
}

/// Connections that always have something to read and receive without end, and one buffer. Each
/// gives it back in its completion, then starts anew, or the other way round.
class LeaseTurns : public LeaseTest {
protected:
    static constexpr std::size_t count = 3;
    static constexpr std::size_t rounds = 5;

    /// Everybody starves but the first, which has the buffer.
    void begin_all(bool gives_back_first) {
        make_loop({.lease_size = 64, .lease_count = 1, .lease_max = 1});
        for (std::size_t i = 0; i != count; ++i) {
            connection& c = connect();
            c.send(std::string(64 * (rounds + 1), static_cast<char>('a' + i)));
            begin(c);
            if (i == 0) {
                EXPECT_TRUE(ends(c.reader));
            }
        }
        settle();
        for (connection& c : connections) {
            c.reader.then([this, gives_back_first, &c](recorder& r) {
                lease lent = loop().take_lease(r.operation());
                order += text_of(lent).substr(0, 1);
                if (gives_back_first) {
                    lent.reset();
                }
                if (order.size() < count * rounds) {
                    begin(c);
                }
            });
        }
    }
    /// From inside the loop, as the completions do.
    void expect_turns(bool gives_back_first) {
        begin_all(gives_back_first);
        when_ready_call([this, gives_back_first] {
            if (gives_back_first) {
                kept.clear();
            }
            begin(connections.front());
            kept.clear();
        });
        ASSERT_TRUE(until([&] { return order.size() >= count * rounds; }));
        std::string in_turn;
        for (std::size_t i = 0; i != rounds; ++i) {
            in_turn += "bca";
        }
        EXPECT_EQ(order.substr(0, count * rounds), in_turn);
    }

    std::string order;
};
EDDY_ON_EVERY_ENGINE(LeaseTurns);

TEST_P(LeaseTurns, AreTakenByThoseWhoGiveTheirBufferBackFirst) { expect_turns(true); }
TEST_P(LeaseTurns, AreTakenByThoseWhoStartAnewFirst) { expect_turns(false); }

TEST_P(LeaseTurns, AreNotTakenByOneThatComesWhenABufferIsBackForAnother) {
    begin_all(true);
    connection& late = connect();
    late.send(std::string(64, 'z'));
    late.reader.then(
        [this](recorder& r) { order += text_of(loop().take_lease(r.operation())).substr(0, 1); });
    when_ready_call([&] {
        kept.clear();
        begin(late);
    });
    ASSERT_TRUE(ends(late.reader));
    EXPECT_EQ(order.substr(0, 2), "bc");
}

TEST_P(LeaseStarving, BuffersMayComeBackWhileTheLoopEnds) {
    for (int i = 0; i != 50; ++i) {
        make_loop(two_buffers);
        connection& last = starve();
        loop().poll();
        std::thread other([this] { kept.clear(); });
        last.reader.then(nullptr);
        loop().cancel(last.reader.operation());
        EXPECT_TRUE(ends(last.reader));
        drop_connections();
        end_loop();
        other.join();
    }
}

/// Takes leases on a thread of its own, and drops them there.
class consumer {
public:
    consumer() : thread_([this] { work(); }) {}
    ~consumer() {
        push(lease());
        thread_.join();
    }
    consumer(const consumer&) = delete;
    consumer& operator=(const consumer&) = delete;

    void push(lease l) {
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(l));
        changed_.notify_one();
    }

private:
    void work() {
        for (;;) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return !queue_.empty(); });
            const lease taken = std::move(queue_.front());
            queue_.pop_front();
            if (taken.empty()) {
                return;
            }
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<lease> queue_;
    std::thread thread_;
};

class LeaseTraffic : public LeaseTest {
protected:
    /// Many connections, few buffers, which come back from another thread or from this one.
    void traffic(bool elsewhere) {
        make_loop({.lease_size = 512, .lease_count = 1, .lease_max = 3});
        constexpr std::size_t count = 8;
        const std::string text = pattern(30'000);
        consumer other;
        std::vector<std::string> got(count);
        std::vector<descriptor> peers;
        std::deque<recorder> writers;
        for (std::size_t i = 0; i != count; ++i) {
            connection& c = connect(i % 3 == 2 ? make_pipe : unix_stream_pair);
            c.reader.then([&, i](recorder& r) {
                lease l = loop().take_lease(r.operation());
                got[i] += text_of(l);
                if (elsewhere && !l.empty()) {
                    other.push(std::move(l));
                }
                l.reset();
                if (r.count() != 0 && got[i].size() < text.size()) {
                    begin(c);
                }
            });
            peers.push_back(attach(std::move(c.peer)));
            begin(c);
            start(writers.emplace_back(), eddy::write_all(peers.back(), bytes(text)));
        }
        for (std::size_t i = 0; i != count; ++i) {
            ASSERT_TRUE(until([&] { return got[i].size() == text.size(); })) << i;
            EXPECT_TRUE(got[i] == text);
        }
    }
};
EDDY_ON_EVERY_ENGINE(LeaseTraffic);

TEST_P(LeaseTraffic, GoesOnWithFewBuffers) { traffic(false); }
TEST_P(LeaseTraffic, GoesOnWithFewBuffersThatComeBackFromElsewhere) { traffic(true); }

class LeaseTurnsOfOldKernels : public on_old_kernels<LeaseTurns> {};
INSTANTIATE_TEST_SUITE_P(Engine, LeaseTurnsOfOldKernels, ::testing::Values(engine_kind::io_uring),
                         engine_name);

TEST_P(LeaseTurnsOfOldKernels, AreTakenByThoseWhoGiveTheirBufferBackFirst) { expect_turns(true); }
TEST_P(LeaseTurnsOfOldKernels, AreTakenByThoseWhoStartAnewFirst) { expect_turns(false); }

class LeaseOfOldKernels : public on_old_kernels<LeaseTraffic> {};
INSTANTIATE_TEST_SUITE_P(Engine, LeaseOfOldKernels, ::testing::Values(engine_kind::io_uring),
                         engine_name);

TEST_P(LeaseOfOldKernels, GoesOnWithFewBuffers) { traffic(false); }
TEST_P(LeaseOfOldKernels, GoesOnWithFewBuffersThatComeBackFromElsewhere) { traffic(true); }

TEST_P(LeaseOfOldKernels, IsWaitedForWhenAllAreOut) {
    make_loop(two_buffers);
    connection& last = starve();
    EXPECT_LT(turns_in(50ms), 20U);
    kept.erase(kept.begin());
    expect_fed(last, "2");
}

/// Its result is there before the loop waits.
TEST_P(LeaseOfOldKernels, GetsOneAndTheLoopDoesNotSleepOnIt) {
    make_loop({.lease_count = 1, .lease_max = 1});
    connection& last = starve(1, 2);
    last.reader.then([this](recorder&) { loop().stop(); });
    when_ready_call([this] { kept.clear(); });
    const auto end = clock::now() + patience;
    loop().run(run_mode::empty, {.until = end});
    EXPECT_TRUE(last.reader.ended());
    EXPECT_LT(clock::now(), end);
}

}  // namespace
}  // namespace eddy::test::lease_starving_test
