// SPDX-License-Identifier: Apache-2.0
#include "support/pollset_fixture.hpp"

#include <eddy/base/error.hpp>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <optional>

#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <csignal>

namespace eddy::test::bad_input_test {
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

TEST_P(PollsetBadInput, WhatEpollRefusesIsRefusedByPollsetsAndSets) {
    pollset set(domain());
    pollset_set bag(domain());
    int refused = 0;
    for (const char* const path : {"/dev/null", "/dev/random", "/"}) {
        SCOPED_TRACE(path);
        unique_fd fd(::open(path, O_RDONLY | O_CLOEXEC));
        ASSERT_TRUE(fd);
        bool can_be_watched = true;
        {
            const unique_fd epoll(::epoll_create1(EPOLL_CLOEXEC));
            epoll_event event{};
            if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd.get(), &event) != 0) {
                ASSERT_EQ(errno, EPERM);
                can_be_watched = false;
                ++refused;
            }
        }
        const auto as_epoll = [&](std::error_code error) {
            return can_be_watched ? !error : error == std::errc::operation_not_permitted;
        };
        held_handle handle(domain(), std::move(fd));
        EXPECT_TRUE(as_epoll(set.add(*handle)));
        if (can_be_watched) {
            ASSERT_FALSE(set.remove(*handle));
        }
        EXPECT_TRUE(as_epoll(bag.add(*handle)));
    }
    EXPECT_GE(refused, 2) << "the directory, and what is always ready";
}

TEST_P(PollsetBadInput, AClosureIsNotToldOfAnEndWhileItWaits) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // a child that forked would not ask
    pollset set(domain());
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    noted waits;
    ASSERT_FALSE(set.add(*handle));
    ASSERT_FALSE(handle->notify_on_read(waits));
    EXPECT_DEATH(handle->orphan(waits), "a closure that waits already is to be told an end");
    EXPECT_DEATH(set.shutdown(waits), "a closure that waits already is to be told an end");
    handle->shutdown(std::make_error_code(std::errc::timed_out));
    settle(set);
    EXPECT_EQ(waits.calls(), 1);
}

TEST_P(PollsetBadInput, AClosureThatIsToBeToldAnEndDoesNotWaitForAnythingElse) {
    pollset set(domain());
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    noted down;
    inside one(set);
    ASSERT_TRUE(waits());
    std::error_code refused;
    callback busy([&](std::error_code) {
        set.shutdown(down);  // this thread is inside
        refused = handle->notify_on_read(down);
    });
    ASSERT_FALSE(set.add(*handle));
    ASSERT_FALSE(handle->notify_on_read(busy));
    write_all(write.get(), "x");
    one.join();
    EXPECT_EQ(refused, std::errc::connection_already_in_progress);
    EXPECT_EQ(down.calls(), 1);
    ASSERT_FALSE(handle->notify_on_read(down)) << "it was told: it may be handed in again";
    EXPECT_TRUE(handle->cancel(down));
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

/// pthread_cancel() unwinds a thread at the next system call that is a cancellation point. Inside
/// work() that would leave the locks and lists of all other workers broken.
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
}  // namespace eddy::test::bad_input_test
