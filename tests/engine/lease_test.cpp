// Receives into buffers that the loop lends.
#include "kernel/call.hpp"
#include "support/engine_fixture.hpp"
#include "support/in_child.hpp"
#include "support/pattern.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <sys/socket.h>

namespace eddy::test {
namespace {

std::string text_of(const lease& l) {
    return {reinterpret_cast<const char*>(l.data().data()), l.size()};
}

class Lease : public EngineTest {
protected:
    void TearDown() override {
        kernel::fail_nothing();
        peers_.clear();
        EngineTest::TearDown();
    }
    std::uint64_t out() { return loop().counters().leases_out; }
    /// Keeps the lease of each result in `kept`.
    auto keeper(std::vector<lease>& kept) {
        return [this, &kept](recorder& r) {
            kept.push_back(loop().take_lease(r.operation()));
            EXPECT_EQ(kept.back().size(), r.count());
        };
    }
    /// What the next receive brings.
    std::string received(const descriptor& d) {
        std::string text;
        recorder r([&](recorder& self) {
            text = text_of(loop().take_lease(self.operation()));
            EXPECT_EQ(self.count(), text.size()) << self.error();
        });
        start(r, receive(d));
        EXPECT_TRUE(ends(r));
        return text;
    }
    /// Two buffers, for three descriptors that have something to read; the third waits.
    void starve(std::vector<lease>& kept, std::vector<descriptor>& ds,
                std::deque<recorder>& readers) {
        for (int i = 0; i != 3; ++i) {
            fd_pair pair = unix_stream_pair();
            send_all(pair.second.get(), std::to_string(i));
            ds.push_back(attach(std::move(pair.first)));
            peers_.push_back(std::move(pair.second));
            readers.emplace_back(keeper(kept));
            start(readers.back(), receive(ds.back()));
        }
        ASSERT_TRUE(until([&] { return kept.size() == 2; }));
        settle();
        ASSERT_EQ(kept.size(), 2U);
        ASSERT_EQ(out(), 2U);
    }

    std::vector<unique_fd> peers_;
};
EDDY_ON_EVERY_ENGINE(Lease);

constexpr loop_options two_buffers{.lease_size = 4096, .lease_count = 2, .lease_max = 2};

TEST_P(Lease, HoldsWhatCame) {
    for (const pair_maker make :
         {tcp_pair, unix_stream_pair, unix_packet_pair, unix_datagram_pair, make_pipe}) {
        fd_pair pair = make();
        const descriptor d = attach(std::move(pair.first));
        std::vector<lease> kept;
        recorder r(keeper(kept));
        start(r, receive(d));
        settle();
        ASSERT_FALSE(r.ended()) << r.error();
        ASSERT_EQ(out(), 0U);
        write_all(pair.second.get(), "hello");
        ASSERT_TRUE(ends(r));
        ASSERT_EQ(r.count(), 5U) << r.error();
        EXPECT_EQ(text_of(kept.at(0)), "hello");
        EXPECT_EQ(out(), 1U);
    }
}

TEST_P(Lease, IsForEverythingThatCanBeRead) {
    fd_pair pty = make_pty();
    const descriptor terminal = attach(std::move(pty.second));
    write_all(pty.first.get(), "line\n");
    EXPECT_EQ(received(terminal), "line\n");
    const descriptor event = attach(make_eventfd(3));
    EXPECT_EQ(received(event).size(), 8U);
    const scratch_directory directory;
    const descriptor file = attach(directory.file("f", pattern(5000)));
    const std::string first = received(file);
    EXPECT_EQ(first.size(), 4096U);
    EXPECT_EQ(first + received(file), pattern(5000));
    EXPECT_EQ(received(file), "");
}

TEST_P(Lease, WorksOnAnFdThatWasNonBlockingBefore) {
    fd_pair pair = tcp_pair();
    set_nonblocking(pair.first.get(), true);
    const descriptor d = attach(std::move(pair.first));
    std::vector<lease> kept;
    recorder r(keeper(kept));
    start(r, receive(d));
    settle();
    ASSERT_FALSE(r.ended()) << r.error();
    EXPECT_EQ(out(), 0U);
    send_all(pair.second.get(), "abc");
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(text_of(kept.at(0)), "abc");
}

TEST_P(Lease, IsEmptyAtTheEndOfTheStream) {
    for (const pair_maker make : {tcp_pair, unix_stream_pair, make_pipe}) {
        fd_pair pair = make();
        const descriptor d = attach(std::move(pair.first));
        write_all(pair.second.get(), "last");
        pair.second.reset();
        EXPECT_EQ(received(d), "last");
        std::vector<lease> kept;
        recorder r(keeper(kept));
        start(r, receive(d));
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.result(), io_result::value(0)) << r.error();
        EXPECT_TRUE(kept.at(0).empty());
        EXPECT_TRUE(kept.at(0).data().empty());
        EXPECT_EQ(out(), 0U);
    }
}

TEST_P(Lease, IsEmptyAfterAnError) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::vector<lease> kept;
    recorder r(keeper(kept));
    start(r, receive(d));
    settle();
    reset_on_close(pair.second.get());
    pair.second.reset();
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::connection_reset);
    EXPECT_TRUE(kept.at(0).empty());
    EXPECT_EQ(out(), 0U);
}

TEST_P(Lease, BringsALongStreamInPieces) {
    make_loop({.lease_size = 1024});
    fd_pair pair = unix_stream_pair();
    const descriptor d = attach(std::move(pair.first));
    const std::string text = pattern(20'000);
    send_all(pair.second.get(), text);
    std::string all;
    for (int i = 0; i != 20 && all.size() != text.size(); ++i) {
        const std::string piece = received(d);
        EXPECT_LE(piece.size(), 1024U);
        all += piece;
    }
    EXPECT_EQ(all, text);
}

TEST_P(Lease, ThatNobodyTakesGoesBack) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::uint64_t inside = 0;
    recorder r([&](recorder&) { inside = out(); });
    for (int i = 0; i != 200; ++i) {
        send_all(pair.second.get(), "x");
        start(r, receive(d));
        ASSERT_TRUE(ends(r));
        ASSERT_EQ(r.count(), 1U);
        ASSERT_EQ(inside, 1U);
        ASSERT_EQ(out(), 0U);
    }
}

TEST_P(Lease, IsNotHeldByAnIdleConnection) {
    make_loop(two_buffers);
    std::vector<descriptor> ds;
    std::vector<unique_fd> peers;
    std::deque<recorder> readers;
    std::vector<lease> kept;
    for (int i = 0; i != 100; ++i) {
        fd_pair pair = unix_stream_pair();
        ds.push_back(attach(std::move(pair.first)));
        peers.push_back(std::move(pair.second));
        readers.emplace_back(keeper(kept));
        start(readers.back(), receive(ds.back()));
    }
    settle();
    ASSERT_EQ(out(), 0U);
    send_all(peers[77].get(), "one");
    ASSERT_TRUE(ends(readers[77]));
    EXPECT_EQ(text_of(kept.at(0)), "one");
    for (descriptor& d : ds) {
        d.close();
    }
    EXPECT_TRUE(until([&] { return kept.size() == 100; }));
}

TEST_P(Lease, StaysAsItIsWhileMoreArrive) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::vector<lease> kept;
    recorder r(keeper(kept));
    for (int i = 0; i != 300; ++i) {
        send_all(pair.second.get(), std::to_string(i));
        start(r, receive(d));
        ASSERT_TRUE(ends(r));
    }
    EXPECT_EQ(out(), 300U);
    for (int i = 0; i != 300; ++i) {
        EXPECT_EQ(text_of(kept[static_cast<std::size_t>(i)]), std::to_string(i));
    }
    kept.clear();
    EXPECT_EQ(out(), 0U);
    send_all(pair.second.get(), "again");
    EXPECT_EQ(received(d), "again");
}

TEST_P(Lease, IsGivenBackByAnotherThread) {
    make_loop(two_buffers);
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    for (int i = 0; i != 10; ++i) {
        std::vector<lease> kept;
        recorder r(keeper(kept));
        send_all(pair.second.get(), "text");
        start(r, receive(d));
        ASSERT_TRUE(ends(r));
        std::thread([given = std::move(kept.at(0))] { EXPECT_EQ(text_of(given), "text"); }).join();
        EXPECT_EQ(out(), 0U);
    }
}

TEST_P(Lease, IsWaitedForWhenAllAreOut) {
    make_loop(two_buffers);
    std::vector<lease> kept;
    std::vector<descriptor> ds;
    std::deque<recorder> readers;
    ASSERT_NO_FATAL_FAILURE(starve(kept, ds, readers));
    EXPECT_LT(turns_in(50ms), 20U);
    ASSERT_EQ(kept.size(), 2U);
    // Given back on the loop's thread, which has nothing else to do afterwards.
    recorder waker([&](recorder&) { kept.erase(kept.begin()); });
    fd_pair pipe = make_pipe();
    const descriptor p = attach(std::move(pipe.first));
    write_all(pipe.second.get(), "x");
    start(waker, wait(p, interest::readable));
    ASSERT_TRUE(ends(readers[2]));
    EXPECT_EQ(text_of(kept.back()), "2");
    EXPECT_EQ(out(), 2U);
}

TEST_P(Lease, WakesTheLoopWhenAnotherThreadGivesItBack) {
    make_loop(two_buffers);
    std::vector<lease> kept;
    std::vector<descriptor> ds;
    std::deque<recorder> readers;
    ASSERT_NO_FATAL_FAILURE(starve(kept, ds, readers));
    lease given = std::move(kept[1]);
    std::thread other([&] {
        std::this_thread::sleep_for(20ms);
        given.reset();
    });
    EXPECT_TRUE(ends(readers[2]));
    other.join();
    EXPECT_EQ(text_of(kept.back()), "2");
    EXPECT_EQ(out(), 2U);
}

TEST_P(Lease, IsNotWaitedForAnyMoreByWhatIsCancelledOrTimedOutOrClosed) {
    make_loop(two_buffers);
    std::vector<lease> kept;
    std::vector<descriptor> ds;
    std::deque<recorder> readers;
    ASSERT_NO_FATAL_FAILURE(starve(kept, ds, readers));
    loop().cancel(readers[2].operation());
    ASSERT_TRUE(ends(readers[2]));
    EXPECT_EQ(readers[2].error(), std::errc::operation_canceled);
    start(readers[2], receive(ds[2]), clock::now() + 10ms);
    ASSERT_TRUE(ends(readers[2]));
    EXPECT_EQ(readers[2].error(), errc::timed_out);
    start(readers[2], receive(ds[2]));
    settle();
    loop().abandon(readers[2].operation());
    start(readers[2], receive(ds[2]));
    settle();
    ds[2].close();
    ASSERT_TRUE(ends(readers[2]));
    EXPECT_EQ(readers[2].error(), std::errc::operation_canceled);
    kept.clear();
    EXPECT_EQ(out(), 0U);
}

TEST_P(Lease, OfWhatIsCancelledBeforeItsTurnIsNotMissed) {
    make_loop(two_buffers);
    std::vector<lease> kept;
    std::vector<descriptor> ds;
    std::deque<recorder> readers;
    ASSERT_NO_FATAL_FAILURE(starve(kept, ds, readers));
    loop().cancel(readers[2].operation());
    ASSERT_TRUE(ends(readers[2]));
    for (int i = 0; i != 3; ++i) {
        start(readers[2], receive(ds[2]));
        loop().cancel(readers[2].operation());
        ASSERT_TRUE(ends(readers[2]));
        EXPECT_EQ(readers[2].error(), std::errc::operation_canceled);
    }
}

TEST_P(Lease, GoesToTheNextIfTheFirstInTheQueueNeedsItNoMore) {
    make_loop({.lease_count = 1, .lease_max = 1});
    std::vector<lease> kept;
    std::vector<descriptor> ds;
    std::deque<recorder> readers;
    for (int i = 0; i != 3; ++i) {
        fd_pair pair = unix_stream_pair();
        send_all(pair.second.get(), std::to_string(i));
        ds.push_back(attach(std::move(pair.first)));
        peers_.push_back(std::move(pair.second));
        readers.emplace_back(keeper(kept));
        start(readers.back(), receive(ds.back()));
        settle();
    }
    ASSERT_EQ(kept.size(), 1U);
    fd_pair pipe = make_pipe();
    const descriptor p = attach(std::move(pipe.first));
    write_all(pipe.second.get(), "x");
    recorder waker([&](recorder&) {
        kept.clear();
        loop().cancel(readers[1].operation());
    });
    start(waker, wait(p, interest::readable));
    ASSERT_TRUE(ends(readers[2]));
    EXPECT_EQ(text_of(kept.back()), "2");
}

TEST_P(Lease, OutlivesItsDescriptorAndItsLoop) {
    std::vector<lease> kept;
    {
        fd_pair pair = tcp_pair();
        const descriptor d = attach(std::move(pair.first));
        recorder r(keeper(kept));
        for (const char* text : {"here", "elsewhere"}) {
            send_all(pair.second.get(), text);
            start(r, receive(d));
            ASSERT_TRUE(ends(r));
        }
    }
    end_loop();
    EXPECT_EQ(text_of(kept.at(0)), "here");
    std::thread([given = std::move(kept.at(1))] { EXPECT_EQ(text_of(given), "elsewhere"); }).join();
}

TEST_P(Lease, MayBeGivenBackWhileTheLoopEnds) {
    for (int i = 0; i != 50; ++i) {
        make_loop(two_buffers);
        std::vector<lease> kept;
        std::thread other;
        {
            std::vector<descriptor> ds;
            std::deque<recorder> readers;
            ASSERT_NO_FATAL_FAILURE(starve(kept, ds, readers));
            loop().poll();
            other = std::thread([&] { kept.clear(); });
            readers[2].then(nullptr);
            loop().cancel(readers[2].operation());
            EXPECT_TRUE(ends(readers[2]));
        }
        end_loop();
        other.join();
    }
}

TEST_P(Lease, OfAReceiveThatIsAbandonedGoesBack) {
    make_loop(two_buffers);
    recorder r;
    for (int i = 0; i != 100; ++i) {
        fd_pair pair = unix_stream_pair();
        const descriptor d = attach(std::move(pair.first));
        start(r, receive(d));
        if (i % 2 == 0) {
            loop().poll();
        }
        send_all(pair.second.get(), "x");
        loop().abandon(r.operation());
        ASSERT_FALSE(r.ended());
        ASSERT_EQ(out(), 0U);
    }
}

TEST_P(Lease, IsNotLostWhenAReceiveIsCancelled) {
    make_loop(two_buffers);
    fd_pair pair = unix_stream_pair();
    const descriptor d = attach(std::move(pair.first));
    std::size_t sent = 0;
    std::size_t got = 0;
    recorder r;
    for (int i = 0; i != 300; ++i) {
        start(r, receive(d));
        if (i % 3 == 0) {
            loop().poll();
        }
        send_all(pair.second.get(), "xyz");
        sent += 3;
        if (i % 2 == 0) {
            loop().poll();
        }
        loop().cancel(r.operation());
        ASSERT_TRUE(ends(r));
        ASSERT_TRUE(r.result().ok() || r.error() == std::errc::operation_canceled);
        got += r.count();
        ASSERT_EQ(out(), 0U);
    }
    pair.second.reset();
    for (int i = 0; i != 300 && got != sent; ++i) {
        got += received(d).size();
    }
    EXPECT_EQ(got, sent);
}

TEST_P(Lease, FromAnotherLoopGoesBackToItsOwn) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::vector<lease> kept;
    recorder r(keeper(kept));
    send_all(pair.second.get(), "x");
    start(r, receive(d));
    ASSERT_TRUE(ends(r));
    eddy::loop second({.engine = GetParam()});
    struct giver : entry {
        std::vector<lease>* from = nullptr;
    } give;
    give.from = &kept;
    give.set_callbacks([](entry& e) noexcept { static_cast<giver&>(e).from->clear(); }, nullptr);
    second.post(give);
    second.run(run_mode::empty);
    EXPECT_EQ(out(), 0U);
    EXPECT_EQ(second.counters().leases_out, 0U);
}

TEST_P(Lease, WorksInTheChildAfterFork) {
    fd_pair pair = unix_stream_pair();
    const descriptor d = attach(std::move(pair.first));
    std::vector<lease> kept;
    recorder r(keeper(kept));
    send_all(pair.second.get(), "before");
    start(r, receive(d));
    ASSERT_TRUE(ends(r));
    start(r, receive(d));
    settle();
    const int ended = in_child([&] {
        loop().after_fork_in_child();
        EXPECT_TRUE(ends(r));
        EXPECT_EQ(r.error(), std::errc::operation_canceled);
        EXPECT_EQ(text_of(kept.at(0)), "before");
        EXPECT_EQ(out(), 1U);
        send_all(pair.second.get(), "in the child");
        EXPECT_EQ(received(d), "in the child");
        kept.clear();
        EXPECT_EQ(out(), 0U);
        return ::testing::Test::HasFailure() ? 1 : 0;
    });
    EXPECT_EQ(ended, 0);
    send_all(pair.second.get(), "after");
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(text_of(kept.at(1)), "after");
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

class LeaseTraffic : public Lease {
protected:
    /// Many connections, few buffers, which come back from another thread or from this one.
    void traffic(bool elsewhere) {
        make_loop({.lease_size = 512, .lease_count = 1, .lease_max = 3});
        constexpr std::size_t connections = 8;
        const std::string text = pattern(30'000);
        consumer other;
        std::vector<descriptor> in;
        std::vector<descriptor> out_;
        std::vector<std::string> got(connections);
        std::deque<recorder> readers;
        std::deque<recorder> writers;
        for (std::size_t i = 0; i != connections; ++i) {
            fd_pair pair = i % 3 == 2 ? make_pipe() : unix_stream_pair();
            in.push_back(attach(std::move(pair.first)));
            out_.push_back(attach(std::move(pair.second)));
            readers.emplace_back([&, i](recorder& r) {
                lease l = loop().take_lease(r.operation());
                got[i] += text_of(l);
                if (elsewhere && !l.empty()) {
                    other.push(std::move(l));
                }
                l.reset();
                if (r.count() != 0 && got[i].size() < text.size()) {
                    start(r, receive(in[i]));
                }
            });
            writers.emplace_back();
        }
        for (std::size_t i = 0; i != connections; ++i) {
            start(readers[i], receive(in[i]));
            start(writers[i], eddy::write_all(out_[i], bytes(text)));
        }
        for (std::size_t i = 0; i != connections; ++i) {
            ASSERT_TRUE(until([&] { return got[i].size() == text.size(); }, 20s)) << i;
            EXPECT_TRUE(got[i] == text);
        }
    }
};
EDDY_ON_EVERY_ENGINE(LeaseTraffic);

TEST_P(LeaseTraffic, GoesOnWithFewBuffers) { traffic(false); }
TEST_P(LeaseTraffic, GoesOnWithFewBuffersThatComeBackFromElsewhere) { traffic(true); }

/// A kernel that cannot pick buffers.
class LeaseOfOldKernels : public LeaseTraffic {
protected:
    void SetUp() override {
        LeaseTraffic::SetUp();
        kernel::fail(kernel::call::uring_buffers, EINVAL, 0, 1000);
    }
};
INSTANTIATE_TEST_SUITE_P(Engine, LeaseOfOldKernels, ::testing::Values(engine_kind::io_uring),
                         engine_name);

TEST_P(LeaseOfOldKernels, GoesOnWithFewBuffers) { traffic(false); }
TEST_P(LeaseOfOldKernels, GoesOnWithFewBuffersThatComeBackFromElsewhere) { traffic(true); }

TEST_P(LeaseOfOldKernels, IsWaitedForWhenAllAreOut) {
    make_loop(two_buffers);
    std::vector<lease> kept;
    std::vector<descriptor> ds;
    std::deque<recorder> readers;
    ASSERT_NO_FATAL_FAILURE(starve(kept, ds, readers));
    EXPECT_LT(turns_in(50ms), 20U);
    kept.erase(kept.begin());
    ASSERT_TRUE(ends(readers[2]));
    EXPECT_EQ(text_of(kept.back()), "2");
}

}  // namespace
}  // namespace eddy::test
