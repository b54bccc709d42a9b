// SPDX-License-Identifier: Apache-2.0
#include "support/threads.hpp"
#include "support/pollset_fixture.hpp"

#include <eddy/pollset/pollset_timer.hpp>
#include <eddy/pollset/pollset_watch.hpp>

#include <array>
#include <atomic>

#include <gmock/gmock.h>
#include <unistd.h>

namespace eddy::test::threads_test {
namespace {

/// Pollsets are served by the program's own threads, and by no others.
class PollsetThreads : public PollsetTest {
protected:
    void TearDown() override {
        PollsetTest::TearDown();
        none_started();
    }

    void none_started() const { EXPECT_THAT(census_.started(), ::testing::IsEmpty()); }

    thread_census census_;  // taken before there is a domain
};
EDDY_WITH_EVERY_STRATEGY(PollsetThreads);

/// Reads all, then waits for more.
class reader final : public pollset_watch {
public:
    reader(pollset& set, unique_fd fd) : pollset_watch(set, std::move(fd), interest::readable) {
        arm();
    }

    std::atomic<int> calls{0};
    std::atomic<bool> removed{false};

private:
    reaction on_ready(interest) override {
        std::array<char, 16> data;
        while (::read(fd(), data.data(), data.size()) > 0) {}
        ++calls;
        return reaction::rearm;
    }
    void on_removed() noexcept override { removed = true; }
};

TEST_P(PollsetThreads, WorkOnHandlesStartsNone) {
    pollset set(domain());
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    ASSERT_FALSE(set.add(*handle));
    noted readable;
    ASSERT_FALSE(handle->notify_on_read(readable));
    none_started();
    EXPECT_EQ(*set.work(clock::now() + 1ms), work_end::timed_out);
    write_all(write.get(), "x");
    EXPECT_TRUE(until(set, [&] { return readable.calls() == 1; }));
    none_started();
    handle.orphan();
    EXPECT_EQ(*set.try_work(), work_end::timed_out);
    none_started();
}

TEST_P(PollsetThreads, TimersStartNone) {
    pollset set(domain());
    noted due;
    pollset_timer timer(set, due);
    ASSERT_FALSE(timer.set_after(1ms));
    none_started();
    EXPECT_TRUE(until(set, [&] { return due.calls() == 1; }));
    none_started();
}

TEST_P(PollsetThreads, WatchesStartNone) {
    pollset set(domain());
    auto [read, write] = make_pipe();
    set_nonblocking(read.get(), true);
    reader watch(set, std::move(read));
    for (int round = 1; round != 4; ++round) {
        write_all(write.get(), "x");
        EXPECT_TRUE(until(set, [&] { return watch.calls == round; }));
        none_started();
    }
    watch.remove();
    EXPECT_TRUE(until(set, [&] { return watch.removed.load(); }));
    none_started();
}

/// Threads that sleep, hand over and help are the program's, so there are as many as it started.
TEST_P(PollsetThreads, SeveralWorkersAreAllThereIs) {
    pollset set(domain());
    auto [read, write] = make_pipe();
    set_nonblocking(read.get(), true);
    reader watch(set, std::move(read));
    noted down;
    {
        const serving one(set);
        const serving two(set);
        const serving three(set);
        for (int round = 1; round != 20; ++round) {
            write_all(write.get(), "x");
            ASSERT_TRUE(comes([&] { return watch.calls >= round; }));
            EXPECT_EQ(census_.started().size(), 3U);
        }
        watch.remove();
        EXPECT_TRUE(comes([&] { return watch.removed.load(); }));
        set.shutdown(down);  // all three leave
    }
    EXPECT_EQ(down.calls(), 1);
    EXPECT_TRUE(comes([&] { return census_.started().empty(); }));
}

}  // namespace
}  // namespace eddy::test::threads_test
