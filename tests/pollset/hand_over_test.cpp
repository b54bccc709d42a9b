#include "support/pollset_fixture.hpp"

#include <thread>

#include <unistd.h>

namespace eddy::test {
namespace {

/// A worker that blocks, or leaves, takes nothing with it.
class PollsetHandOver : public PollsetTest {
protected:
    /// A thread in `set`, until the end of the test.
    class helper {
    public:
        explicit helper(pollset& set)
            : set_(set), thread_([this] {
                  const time_point end = soon();
                  while (!over_ && clock::now() < end) {
                      static_cast<void>(set_.work(end));
                  }
              }) {}
        ~helper() {
            over_ = true;
            set_.kick_any();
            thread_.join();
        }

    private:
        pollset& set_;
        std::atomic<bool> over_{false};
        std::thread thread_;
    };

    /// Waits for `n` waits in all, so that a thread is in the kernel, or goes there.
    void await_waits(std::uint64_t n) {
        const time_point end = soon();
        while (domain().counters().waits < n && clock::now() < end) {
            std::this_thread::yield();
        }
    }
};

TEST_P(PollsetHandOver, ThoseOfAnotherPollsetAreToldOfWhatItsPollerRunsLater) {
    if (GetParam() == poll_strategy::epollex) {
        GTEST_SKIP() << "of two duplicates of one fd the kernel tells one";
    }
    for (int i = 0; i != 10; ++i) {
        pollset own(domain());
        pollset other(domain());
        pollset empty(domain());
        fd_pair pipe = make_pipe();
        // One write makes both ready, the shared one first: then the urgent one goes before it.
        held_handle urgent(domain(), unique_fd(::dup(pipe.first.get())), {.priority = 1});
        held_handle shared(domain(), std::move(pipe.first), {.priority = 40});
        ASSERT_FALSE(own.add(*urgent));
        ASSERT_FALSE(own.add(*shared));
        ASSERT_FALSE(other.add(*shared));
        std::atomic<bool> ran{false};
        callback on_shared([&](std::error_code) { ran = true; });
        bool in_time = false;
        callback on_urgent([&](std::error_code) {
            const time_point end = soon(2s);
            while (!ran && clock::now() < end) {
                std::this_thread::yield();
            }
            in_time = ran;
        });
        ASSERT_FALSE(shared->notify_on_read(on_shared));
        ASSERT_FALSE(urgent->notify_on_read(on_urgent));
        const std::uint64_t waits = domain().counters().waits;
        std::thread poller([&] {
            while (!in_time && *own.work(soon()) == work_end::ran) {}
        });
        await_waits(waits + 1);
        helper first(empty);
        std::this_thread::sleep_for(
            5ms);  // it sleeps before the next one: else the test shows less
        helper second(other);
        std::this_thread::sleep_for(5ms);
        write_all(pipe.second.get(), "x");
        poller.join();
        EXPECT_TRUE(in_time) << "round " << i;
    }
}

TEST_P(PollsetHandOver, APollsetThatIsShutDownLeavesAPollerBehind) {
    pollset own(domain());
    pollset other(domain());
    fd_pair pipe = make_pipe();
    held_handle reader(domain(), std::move(pipe.first));
    ASSERT_FALSE(other.add(*reader));
    noted read;
    ASSERT_FALSE(reader->notify_on_read(read));
    const std::uint64_t waits = domain().counters().waits;
    std::thread poller([&] { EXPECT_EQ(*own.work(soon()), work_end::shut_down); });
    await_waits(waits + 1);
    std::thread sleeper([&] { EXPECT_EQ(*other.work(soon()), work_end::ran); });
    std::this_thread::sleep_for(5ms);  // it sleeps: else the test shows less
    noted down;
    own.shutdown(down);
    poller.join();
    EXPECT_EQ(down.calls(), 1);
    write_all(pipe.second.get(), "x");
    sleeper.join();
    EXPECT_EQ(read.calls(), 1);
}

EDDY_WITH_EVERY_STRATEGY(PollsetHandOver);

}  // namespace
}  // namespace eddy::test
