// SPDX-License-Identifier: Apache-2.0
// The contract of pollers, over each of them.
#include "poller/poller.hpp"

#include "support/fds.hpp"
#include "support/patience.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace eddy::test::poller_test {
namespace {

using namespace std::chrono_literals;

struct kind {
    const char* name;
    std::error_code (*make)(std::unique_ptr<poller>&) noexcept;
};

class Poller : public ::testing::TestWithParam<kind> {
protected:
    void SetUp() override {
        fds_ = open_fds();
        ASSERT_FALSE(GetParam().make(poller_));
    }
    void TearDown() override {
        poller_.reset();
        EXPECT_EQ(open_fds(), fds_);
    }

    poller& subject() { return *poller_; }

    /// One wait, which comes back at once or at the limit.
    std::vector<poll_event> wait(duration limit = duration::zero(), std::size_t room = 16) {
        std::vector<poll_event> events(room);
        woken_ = false;
        const time_point until =
            limit == duration::zero() ? time_point::min() : clock::now() + limit;
        const io_result found = subject().wait(until, events, woken_);
        EXPECT_TRUE(found);
        events.resize(found.count());
        return events;
    }
    /// Waits until `token` is reported.
    interest wait_for(std::uint64_t token) {
        const time_point until = clock::now() + 5s;
        while (clock::now() < until) {
            for (const poll_event& event : wait(1s)) {
                if (event.token == token) {
                    return event.ready;
                }
            }
        }
        return interest::none;
    }
    std::vector<trigger> triggers() {
        std::vector<trigger> all{trigger::level};
        if (subject().traits().edge) {
            all.push_back(trigger::edge);
        }
        if (subject().traits().one_shot) {
            all.push_back(trigger::one_shot);
        }
        if (subject().traits().exclusive) {
            all.push_back(trigger::exclusive);
        }
        return all;
    }

    bool woken_ = false;

private:
    std::size_t fds_ = 0;
    std::unique_ptr<poller> poller_;
};
INSTANTIATE_TEST_SUITE_P(Poller, Poller,
                         ::testing::Values(kind{"epoll", make_epoll_poller},
                                           kind{"poll", make_poll_poller}),
                         [](const auto& which) { return which.param.name; });

TEST_P(Poller, ReportsTheTokenAndWhatItIsReadyFor) {
    for (const trigger how : triggers()) {
        fd_pair pipe = make_pipe();
        ASSERT_FALSE(subject().add(pipe.first.get(), interest::readable, how, 7));
        ASSERT_FALSE(subject().add(pipe.second.get(), interest::writable, how, UINT64_C(1) << 40));
        EXPECT_EQ(wait_for(UINT64_C(1) << 40), interest::writable);
        write_all(pipe.second.get(), "x");
        EXPECT_EQ(wait_for(7), interest::readable);
        subject().remove(pipe.first.get());
        subject().remove(pipe.second.get());
    }
}

TEST_P(Poller, ReportsALevelForAsLongAsItLasts) {
    fd_pair pipe = make_pipe();
    ASSERT_FALSE(subject().add(pipe.first.get(), interest::readable, trigger::level, 1));
    write_all(pipe.second.get(), "x");
    for (int i = 0; i != 3; ++i) {
        EXPECT_EQ(wait(1s).size(), 1U);
    }
    recv_exactly(pipe.first.get(), 1);
    EXPECT_TRUE(wait().empty());
    subject().remove(pipe.first.get());
}

TEST_P(Poller, ReportsAnEdgeOnce) {
    if (!subject().traits().edge) {
        EXPECT_EQ(subject().add(0, interest::readable, trigger::edge, 1),
                  std::errc::operation_not_supported);
        return;
    }
    fd_pair pipe = make_pipe();
    write_all(pipe.second.get(), "x");
    ASSERT_FALSE(subject().add(pipe.first.get(), interest::readable, trigger::edge, 1));
    EXPECT_EQ(wait(1s).size(), 1U);
    EXPECT_TRUE(wait().empty());
    write_all(pipe.second.get(), "x");
    EXPECT_EQ(wait(1s).size(), 1U);
    ASSERT_FALSE(subject().modify(pipe.first.get(), interest::readable, trigger::edge, 2));
    const auto events = wait(1s);
    ASSERT_EQ(events.size(), 1U) << "modify() tells of what is there";
    EXPECT_EQ(events[0].token, 2U);
    subject().remove(pipe.first.get());
}

TEST_P(Poller, ReportsAOneShotOnceUntilItIsModified) {
    if (!subject().traits().one_shot) {
        return;
    }
    fd_pair pipe = make_pipe();
    write_all(pipe.second.get(), "x");
    ASSERT_FALSE(subject().add(pipe.first.get(), interest::readable, trigger::one_shot, 1));
    EXPECT_EQ(wait(1s).size(), 1U);
    write_all(pipe.second.get(), "x");
    EXPECT_TRUE(wait().empty());
    ASSERT_FALSE(subject().modify(pipe.first.get(), interest::readable, trigger::one_shot, 1));
    EXPECT_EQ(wait(1s).size(), 1U);
    subject().remove(pipe.first.get());
}

TEST_P(Poller, TellsAnExclusiveEventToOneOfThoseThatWait) {
    if (!subject().traits().exclusive) {
        EXPECT_EQ(subject().add(0, interest::readable, trigger::exclusive, 1),
                  std::errc::operation_not_supported);
        return;
    }
    constexpr int waiting = 4;
    constexpr int rounds = 50;
    const unique_fd counter = make_eventfd();
    std::array<std::unique_ptr<poller>, waiting> others;
    std::atomic<int> told{0};
    std::vector<std::thread> threads;
    for (auto& other : others) {
        ASSERT_FALSE(GetParam().make(other));
        ASSERT_FALSE(other->add(counter.get(), interest::readable, trigger::exclusive, 1));
        threads.emplace_back([&told, &poller = *other] {
            for (bool woken = false; !woken;) {
                std::array<poll_event, 4> events;
                const io_result found = poller.wait(clock::now() + 10s, events, woken);
                ASSERT_TRUE(found);
                told += static_cast<int>(found.count());
            }
        });
    }
    for (int round = 1; round <= rounds; ++round) {
        const int before = told;
        ASSERT_EQ(::eventfd_write(counter.get(), 1), 0);
        for (const time_point end = clock::now() + patience;
             told == before && clock::now() < end;) {
            std::this_thread::yield();
        }
        ASSERT_GT(told, before) << "in round " << round;
    }
    for (std::size_t i = 0; i != others.size(); ++i) {
        others[i]->wake();
        threads[i].join();
    }
    // One that is not back in its wait yet is told in the next, and so is one that waits.
    EXPECT_LT(told, rounds * (waiting - 1)) << "the herd comes";
}

TEST_P(Poller, AnExclusiveRegistrationStaysAsItWasAdded) {
    if (!subject().traits().exclusive) {
        return;
    }
    fd_pair pipe = make_pipe();
    const int fd = pipe.first.get();
    EXPECT_EQ(subject().add(fd, interest::readable | interest::peer_closed, trigger::exclusive, 1),
              std::errc::invalid_argument);
    ASSERT_FALSE(subject().add(fd, interest::readable, trigger::exclusive, 1));
    for (const trigger how : {trigger::edge, trigger::exclusive}) {
        EXPECT_EQ(subject().modify(fd, interest::writable, how, 1), std::errc::invalid_argument);
    }
    write_all(pipe.second.get(), "x");
    EXPECT_EQ(wait_for(1), interest::readable);
    EXPECT_TRUE(wait().empty()) << "it is an edge";
    subject().remove(fd);
}

TEST_P(Poller, ThatIsConcurrentTakesChangesWhileAnotherThreadWaits) {
    if (!subject().traits().concurrent) {
        return;
    }
    fd_pair early = make_pipe();
    fd_pair late = make_pipe();
    ASSERT_FALSE(subject().add(early.first.get(), interest::readable, trigger::edge, 1));
    std::array<std::atomic<int>, 3> seen{};
    std::thread waiting([&] {
        for (bool woken = false; !woken;) {
            std::array<poll_event, 4> events;
            const io_result found = subject().wait(clock::now() + 10s, events, woken);
            ASSERT_TRUE(found);
            for (const poll_event& event : std::span(events).first(found.count())) {
                ++seen.at(event.token);
            }
        }
    });
    const auto comes = [&](std::size_t token, int times) {
        const time_point end = clock::now() + patience;
        while (seen[token] < times && clock::now() < end) {
            std::this_thread::yield();
        }
        return seen[token] >= times;
    };
    for (int round = 1; round <= 100; ++round) {
        write_all(late.second.get(), "x");
        ASSERT_FALSE(subject().add(late.first.get(), interest::readable, trigger::edge, 2));
        ASSERT_TRUE(comes(2, 2 * round - 1)) << "an add counts at once";
        ASSERT_FALSE(subject().modify(late.first.get(), interest::readable, trigger::edge, 2));
        ASSERT_TRUE(comes(2, 2 * round)) << "a change counts at once";
        subject().remove(late.first.get());
        write_all(early.second.get(), "x");
        ASSERT_TRUE(comes(1, round)) << "and the others are served on";
    }
    subject().wake();
    waiting.join();
    EXPECT_EQ(seen[2], 200) << "what was removed is silent";
    subject().remove(early.first.get());
}

TEST_P(Poller, ReportsHangUpUnaskedButNotToWhoWantsNothing) {
    fd_pair pipe = make_pipe();
    ASSERT_FALSE(subject().add(pipe.first.get(), interest::priority, trigger::level, 1));
    pipe.second.reset();
    EXPECT_EQ(wait_for(1), interest::hangup);
    ASSERT_FALSE(subject().modify(pipe.first.get(), interest::none, trigger::level, 1));
    EXPECT_TRUE(wait(5ms).empty());
    ASSERT_FALSE(subject().modify(pipe.first.get(), interest::readable, trigger::level, 2));
    EXPECT_EQ(wait_for(2), interest::hangup);
    subject().remove(pipe.first.get());
}

TEST_P(Poller, AddedWithoutInterestReportsNothingUntilItHasSome) {
    fd_pair pipe = make_pipe();
    ASSERT_FALSE(subject().add(pipe.first.get(), interest::none, trigger::level, 1));
    pipe.second.reset();
    EXPECT_TRUE(wait(5ms).empty());
    ASSERT_FALSE(subject().modify(pipe.first.get(), interest::readable, trigger::level, 1));
    EXPECT_EQ(wait_for(1), interest::hangup);
    subject().remove(pipe.first.get());
}

TEST_P(Poller, DoesNotReportATokenAfterItsRemoval) {
    for (const trigger how : triggers()) {
        fd_pair pipe = make_pipe();
        const unique_fd copy(::fcntl(pipe.first.get(), F_DUPFD_CLOEXEC, 0));
        ASSERT_FALSE(subject().add(pipe.first.get(), interest::readable, how, 1));
        write_all(pipe.second.get(), "x");
        subject().remove(pipe.first.get());
        pipe.first.reset();
        EXPECT_TRUE(wait(5ms).empty());
    }
}

TEST_P(Poller, ReportsTheNewTokenOfANumberThatIsAddedAgain) {
    fd_pair pipe = make_pipe();
    ASSERT_FALSE(subject().add(pipe.first.get(), interest::readable, trigger::level, 1));
    ASSERT_EQ(::close(pipe.first.release()), 0);  // by others
    fd_pair next = make_pipe();
    ASSERT_FALSE(subject().add(next.first.get(), interest::readable, trigger::level, 2));
    write_all(next.second.get(), "x");
    EXPECT_EQ(wait_for(2), interest::readable);
    subject().remove(next.first.get());
}

TEST_P(Poller, AddsAgainOnlyTheFileThatWasAdded) {
    fd_pair pipe = make_pipe();
    fd_pair other = make_pipe();
    const int fd = pipe.first.get();
    const trigger how = subject().traits().edge ? trigger::edge : trigger::level;
    ASSERT_FALSE(subject().add(fd, interest::readable, how, 1));
    write_all(pipe.second.get(), "x");
    EXPECT_EQ(wait_for(1), interest::readable);
    if (subject().readd(fd, interest::readable, how, 2)) {
        EXPECT_EQ(wait_for(2), interest::readable) << "what is there counts anew";
    } else {
        subject().remove(fd);
    }
    const unique_fd duplicate(::dup(fd));
    ASSERT_EQ(::dup2(other.first.get(), fd), fd);
    EXPECT_FALSE(subject().readd(fd, interest::readable, how, 3));
    ASSERT_FALSE(subject().add(fd, interest::readable, how, 4));
    write_all(other.second.get(), "x");
    EXPECT_EQ(wait_for(4), interest::readable);
    pipe.first.reset();
    EXPECT_FALSE(subject().readd(fd, interest::readable, how, 5));
    subject().remove(fd);
}

TEST_P(Poller, WhereItHasAFileLeavesItAsItIs) {
    fd_pair pipe = make_pipe();
    fd_pair other = make_pipe();
    const int fd = pipe.first.get();
    const trigger how = subject().traits().edge ? trigger::edge : trigger::level;
    ASSERT_FALSE(subject().add(fd, interest::readable, how, 1));
    write_all(pipe.second.get(), "x");
    if (!subject().has(fd, interest::readable, how, 2)) {
        return;  // it cannot tell
    }
    EXPECT_EQ(wait_for(1), interest::readable) << "the token is the one that it was added with";
    EXPECT_TRUE(subject().has(fd, interest::readable, how, 2));
    EXPECT_TRUE(subject().readd(fd, interest::readable, how, 2));
    EXPECT_EQ(wait_for(2), interest::readable);
    const unique_fd duplicate(::dup(fd));
    ASSERT_EQ(::dup2(other.first.get(), fd), fd);
    EXPECT_FALSE(subject().has(fd, interest::readable, how, 3));
    EXPECT_TRUE(subject().readd(fd, interest::readable, how, 3));
    write_all(other.second.get(), "x");
    EXPECT_EQ(wait_for(3), interest::readable);
    subject().remove(fd);
    ASSERT_EQ(::dup2(duplicate.get(), fd), fd);
    subject().remove(fd);
}

TEST_P(Poller, ThatBeginsAnewForgetsWhatWasClosedUnderADuplicate) {
    fd_pair lost = make_pipe();
    fd_pair kept = make_pipe();
    const trigger how = subject().traits().edge ? trigger::edge : trigger::level;
    const int number = lost.first.get();
    const unique_fd duplicate(::dup(number));
    ASSERT_FALSE(subject().add(number, interest::readable, how, 1));
    ASSERT_FALSE(subject().add(kept.first.get(), interest::readable, how, 2));
    lost.first.reset();
    subject().remove(number);
    const auto add_kept = [&] {
        return subject().traits().edge ? subject().add(kept.first.get(), interest::readable, how, 2)
                                       : std::error_code();
    };
    ASSERT_FALSE(subject().renew(add_kept));
    write_all(lost.second.get(), "x");
    static_cast<void>(wait());
    EXPECT_TRUE(wait().empty());
    EXPECT_EQ(
        subject().renew([] { return std::make_error_code(std::errc::io_error); }),
        subject().traits().edge ? std::make_error_code(std::errc::io_error) : std::error_code());
    write_all(kept.second.get(), "x");
    EXPECT_EQ(wait_for(2), interest::readable);
    subject().wake();
    static_cast<void>(wait(1s));
    EXPECT_TRUE(woken_);
    subject().remove(kept.first.get());
}

TEST_P(Poller, RemovesWhatWasClosedMeanwhile) {
    fd_pair pipe = make_pipe();
    const int number = pipe.first.get();
    ASSERT_FALSE(subject().add(number, interest::readable, trigger::level, 1));
    pipe.first.reset();
    subject().remove(number);
    subject().remove(number);
    EXPECT_TRUE(wait(5ms).empty());
}

TEST_P(Poller, RefusesWhatIsNotOpen) {
    fd_pair pipe = make_pipe();
    const int number = pipe.first.get();
    pipe.first.reset();
    EXPECT_EQ(subject().add(-1, interest::readable, trigger::level, 1),
              std::errc::bad_file_descriptor);
    const auto error = subject().add(number, interest::readable, trigger::level, 1);
    if (error) {
        EXPECT_EQ(error, std::errc::bad_file_descriptor);
    } else {
        EXPECT_EQ(wait_for(1), interest::invalid);
    }
    subject().remove(number);
}

TEST_P(Poller, ReportsInTheNextWaitWhatHadNoRoomInThis) {
    constexpr std::size_t count = 10;
    std::vector<fd_pair> pipes;
    for (std::size_t i = 0; i != count; ++i) {
        pipes.push_back(make_pipe());
        ASSERT_FALSE(subject().add(pipes[i].first.get(), interest::readable, trigger::level, i));
        write_all(pipes[i].second.get(), "x");
    }
    std::array<int, count> seen{};
    for (int round = 0; round != 8; ++round) {
        const auto events = wait(1s, 3);
        EXPECT_LE(events.size(), 3U);
        for (const poll_event& event : events) {
            ++seen.at(event.token);
        }
    }
    for (const int times : seen) {
        EXPECT_GT(times, 0) << "crowded out";
    }
    for (const fd_pair& pipe : pipes) {
        subject().remove(pipe.first.get());
    }
}

TEST_P(Poller, EndsTheNextWaitAfterAWakeThatCameBefore) {
    for (int i = 0; i != 3; ++i) {
        subject().wake();
        subject().wake();
        const time_point before = clock::now();
        EXPECT_TRUE(wait(10s).empty());
        EXPECT_TRUE(woken_);
        EXPECT_LT(clock::now() - before, 5s);
        EXPECT_TRUE(wait().empty());
        EXPECT_FALSE(woken_);
    }
}

TEST_P(Poller, IsWokenByAnotherThread) {
    std::thread other([&] { subject().wake(); });
    const time_point before = clock::now();
    wait(10s);
    EXPECT_TRUE(woken_);
    EXPECT_LT(clock::now() - before, 5s);
    other.join();
}

/// The threads of a pollset share a poller: an event that went to two of them would run its closure
/// twice, and a wake that went to none would be lost.
TEST_P(Poller, OfSeveralThatWaitOneIsToldOfAnEdgeOrAWake) {
    if (!subject().traits().concurrent) {
        return;  // there is never more than one
    }
    auto [read, write] = make_pipe();
    ASSERT_FALSE(subject().add(read.get(), interest::readable, trigger::edge, 7));
    std::atomic<int> returned{0};
    std::atomic<int> events{0};
    std::atomic<int> wakes{0};
    const auto waiter = [&] {
        std::array<poll_event, 4> found;
        bool woken = false;
        const io_result count = subject().wait(clock::now() + patience, found, woken);
        EXPECT_TRUE(count);
        events += static_cast<int>(count.count());
        wakes += woken ? 1 : 0;
        ++returned;
    };
    const auto await_returned = [&](int n) {
        const time_point end = clock::now() + patience;
        while (returned < n && clock::now() < end) {
            std::this_thread::sleep_for(50us);
        }
        return returned.load();
    };
    std::array<std::thread, 3> threads;
    for (std::thread& thread : threads) {
        thread = std::thread(waiter);
    }
    write_all(write.get(), "x");
    EXPECT_EQ(await_returned(1), 1);
    subject().wake();
    EXPECT_EQ(await_returned(2), 2);
    subject().wake();
    EXPECT_EQ(await_returned(3), 3);
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(events, 1);
    EXPECT_EQ(wakes, 2);
    subject().remove(read.get());
}

TEST_P(Poller, WaitsUntilItsDeadlineAndNotShorterThanThat) {
    const time_point until = clock::now() + 20ms;
    std::array<poll_event, 4> events;
    bool woken = false;
    while (clock::now() < until) {
        EXPECT_EQ(subject().wait(until, events, woken), io_result::value(0));
    }
    EXPECT_LT(clock::now(), until + 5s);
}

TEST_P(Poller, HasAHandleThatIsReadableWhenItHasSomethingToSay) {
    const int handle = subject().native_handle();
    ASSERT_EQ(handle >= 0, subject().traits().nests);
    if (handle < 0) {
        return;
    }
    fd_pair pipe = make_pipe();
    ASSERT_FALSE(subject().add(pipe.first.get(), interest::readable, trigger::level, 1));
    EXPECT_FALSE(becomes_ready(handle, POLLIN, 0));
    write_all(pipe.second.get(), "x");
    EXPECT_TRUE(becomes_ready(handle, POLLIN));
    subject().remove(pipe.first.get());
}

TEST_P(Poller, RefusesFilesOrCallsThemReady) {
    const scratch_directory directory;
    const unique_fd file = directory.file("f", "x");
    const auto error = subject().add(file.get(), interest::readable, trigger::level, 1);
    if (error) {
        EXPECT_EQ(error, std::errc::operation_not_permitted);
    } else {
        EXPECT_EQ(wait_for(1), interest::readable);
        subject().remove(file.get());
    }
}

}  // namespace
}  // namespace eddy::test::poller_test
