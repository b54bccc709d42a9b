#include "support/pollset_fixture.hpp"

#include <eddy/base/error.hpp>

#include <atomic>
#include <mutex>
#include <optional>

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <csignal>

namespace eddy::test {
namespace {

class PollsetBadInput : public PollsetTest {};

TEST_P(PollsetBadInput, AClosedFdIsRefused) {
    pollset set(domain());
    auto [read, write] = make_pipe();
    const int number = read.get();
    read.reset();
    held_handle handle(domain(), unique_fd(number));
    EXPECT_EQ(set.add(*handle), std::errc::bad_file_descriptor);
    EXPECT_EQ(set.remove(*handle), std::errc::no_such_file_or_directory);
    EXPECT_EQ(handle.release().release(), number);
}

TEST_P(PollsetBadInput, ASetRefusesAtOnceWhatNoPollsetCouldServe) {
    pollset_set bag(domain());
    const scratch_directory directory;
    held_handle file(domain(), directory.file("f", "x"));
    EXPECT_EQ(bag.add(*file), std::errc::operation_not_permitted);
    sigset_t mask;
    ::sigemptyset(&mask);
    ::sigaddset(&mask, SIGUSR1);
    held_handle signals(domain(), unique_fd(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK)));
    EXPECT_EQ(bag.add(*signals), errc::signal_needs_loop);
    held_handle none(domain(), unique_fd());
    EXPECT_EQ(bag.add(*none), std::errc::bad_file_descriptor);
    EXPECT_EQ(bag.remove(*file), std::errc::no_such_file_or_directory);
}

TEST_P(PollsetBadInput, AHandleOfAnotherDomainIsNotThereToBeRemoved) {
    poll_domain other({.strategy = GetParam()});
    pollset set(domain());
    pollset foreign(other);
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    ASSERT_FALSE(set.add(*handle));
    EXPECT_EQ(foreign.remove(*handle), std::errc::no_such_file_or_directory);
    EXPECT_FALSE(set.remove(*handle));
}

TEST_P(PollsetBadInput, TheCallersLockMayUseThePollsetItself) {
    pollset set(domain());
    struct kicking {
        void lock() { mutex.lock(); }
        void unlock() {
            mutex.unlock();
            error = set.kick(worker);
        }
        pollset& set;
        std::mutex mutex;
        pollset_worker worker;
        std::error_code error = std::make_error_code(std::errc::interrupted);
    } lock{set, {}, {}};
    lock.lock();
    EXPECT_EQ(*set.work(lock, lock.worker, soon()), work_end::kicked);
    EXPECT_FALSE(lock.error) << "the worker is inside before the lock is free";
    lock.mutex.unlock();
}

TEST_P(PollsetBadInput, AThreadThatIsCancelledInsideEndsWhenItIsOutside) {
    pollset set(domain());
    for (const bool sleeping : {false, true}) {
        const auto waits = domain().counters().waits;
        const auto one_waits = [&] { return domain().counters().waits != waits; };
        std::optional<inside> poller;
        if (sleeping) {
            poller.emplace(set);
            ASSERT_TRUE(comes(one_waits));
        }
        struct arguments {
            pollset& set;
            std::atomic<bool> entered{false};
            std::atomic<bool> ended{false};
        } its{set};
        ::pthread_t thread{};
        ASSERT_EQ(::pthread_create(
                      &thread, nullptr,
                      [](void* p) -> void* {
                          auto& mine = *static_cast<arguments*>(p);
                          mine.entered = true;
                          EXPECT_EQ(*mine.set.work(soon()), work_end::kicked);
                          mine.ended = true;
                          for (;;) {
                              ::pthread_testcancel();
                          }
                      },
                      &its),
                  0);
        ASSERT_TRUE(comes([&] { return its.entered && one_waits(); }));
        ASSERT_EQ(::pthread_cancel(thread), 0);
        EXPECT_TRUE(comes([&] {
            static_cast<void>(set.wake(2));
            return its.ended.load();
        }));
        void* result = nullptr;
        ASSERT_EQ(::pthread_join(thread, &result), 0);
        EXPECT_EQ(result, PTHREAD_CANCELED);
        if (poller) {
            EXPECT_EQ(poller->join(), work_end::kicked);
        }
    }
    EXPECT_EQ(*set.try_work(), work_end::timed_out);
}

EDDY_WITH_EVERY_STRATEGY(PollsetBadInput);

}  // namespace
}  // namespace eddy::test
