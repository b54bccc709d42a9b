// SPDX-License-Identifier: Apache-2.0
// What happens when the kernel has no more to give: errors that are told, and nothing that is lost.
#include "kernel/call.hpp"
#include "support/pollset_fixture.hpp"

#include <eddy/pollset/pollset_timer.hpp>
#include <eddy/pollset/pollset_watch.hpp>

#include <array>
#include <cerrno>
#include <optional>
#include <thread>
#include <vector>

namespace eddy::test::faults_test {
namespace {

using kernel::call;

/// Handlers of what can be written always.
class writer final : public pollset_watch {
public:
    writer(pollset& set, unique_fd fd) : pollset_watch(set, std::move(fd), interest::writable) {}
    int calls = 0;
    bool removed = false;

private:
    reaction on_ready(interest) override {
        ++calls;
        return reaction::disarm;
    }
    void on_removed() noexcept override { removed = true; }
};

/// A pipe whose reading end is a handle.
struct line {
    explicit line(poll_domain& domain) : line(domain, make_pipe()) {}
    line(poll_domain& domain, fd_pair pipe)
        : handle(domain, std::move(pipe.first)), end(std::move(pipe.second)) {}

    held_handle handle;
    unique_fd end;
    noted readable;
};

class PollsetFaults : public PollsetTest {
protected:
    void TearDown() override {
        kernel::fail_nothing();
        PollsetTest::TearDown();
    }

    static bool is(std::error_code error, int number) {
        return error == std::error_code(number, std::system_category());
    }
    /// What a call that makes something throws, or nothing.
    template <class Make>
    static std::error_code thrown_by(Make&& make) {
        try {
            make();
        } catch (const std::system_error& e) {
            return e.code();
        }
        return {};
    }

    /// An event of it is told once.
    static void lives(pollset& set, line& l) {
        ASSERT_FALSE(l.handle->notify_on_read(l.readable));
        const int before = l.readable.calls();
        write_all(l.end.get(), "x");
        EXPECT_TRUE(until(set, [&] { return l.readable.calls() != before; }));
        EXPECT_EQ(l.readable.calls(), before + 1);
        EXPECT_FALSE(l.readable.error());
        char byte = 0;
        EXPECT_EQ(::read(l.handle->fd(), &byte, 1), 1);
    }

    /// What the kernel can refuse when something is made or added, and how.
    struct refusal {
        call which;
        int error;
    };
    static constexpr std::array<refusal, 5> refusals{{{call::epoll_create, EMFILE},
                                                      {call::epoll_create, ENOMEM},
                                                      {call::eventfd, EMFILE},
                                                      {call::epoll_ctl, ENOSPC},
                                                      {call::epoll_ctl, ENOMEM}}};

    /// Calls `attempt(refuse, refusal)` for each of them; refuse() has it happen to one of the
    /// calls that follow.
    template <class Attempt>
    static void with_each(Attempt&& attempt) {
        for (const refusal& r : refusals) {
            for (unsigned skip = 0; skip != 4; ++skip) {
                SCOPED_TRACE(std::to_string(r.error) + " after " + std::to_string(skip));
                attempt([&] { kernel::fail(r.which, r.error, skip); }, r);
                kernel::fail_nothing();
                if (HasFatalFailure()) {
                    return;
                }
            }
        }
    }
};

TEST_P(PollsetFaults, ADomainAndItsPollsetAreMadeOrTheErrorIsThrown) {
    with_each([](auto&& refuse, const refusal& r) {
        const auto make = [] {
            poll_domain domain({.strategy = GetParam()});
            const pollset set(domain);
        };
        refuse();
        const std::error_code error = thrown_by(make);
        kernel::fail_nothing();
        EXPECT_TRUE(!error || is(error, r.error)) << error.message();
        EXPECT_FALSE(thrown_by(make));
    });
}

TEST_P(PollsetFaults, AnAdditionThatIsRefusedLeavesAllAsItWas) {
    with_each([&](auto&& refuse, const refusal& r) {
        pollset set(domain());
        line first(domain());
        line second(domain());
        ASSERT_FALSE(set.add(*first.handle));
        refuse();
        const std::error_code error = set.add(*second.handle);
        kernel::fail_nothing();
        lives(set, first);
        if (error) {
            EXPECT_TRUE(is(error, r.error)) << error.message();
            EXPECT_EQ(set.remove(*second.handle), std::errc::no_such_file_or_directory);
            ASSERT_FALSE(set.add(*second.handle));
        }
        lives(set, first);
        lives(set, second);
    });
}

TEST_P(PollsetFaults, ARemovalNeedsNothingThatCouldBeRefused) {
    with_each([&](auto&& refuse, const refusal& r) {
        if (r.which == call::epoll_ctl && GetParam() != poll_strategy::epollex) {
            return;  // nothing is added there, and what is taken out is not refused
        }
        pollset set(domain());
        line stays(domain());
        line goes(domain());
        ASSERT_FALSE(set.add(*stays.handle));
        ASSERT_FALSE(set.add(*goes.handle));
        refuse();
        EXPECT_FALSE(set.remove(*goes.handle));
        kernel::fail_nothing();
        lives(set, stays);
        ASSERT_FALSE(set.add(*goes.handle));
        lives(set, goes);
        lives(set, stays);
    });
}

TEST_P(PollsetFaults, ABagThatCannotServeAHandleDoesNotHoldIt) {
    with_each([&](auto&& refuse, const refusal& r) {
        pollset set(domain());
        pollset_set bag(domain());
        ASSERT_FALSE(bag.add(set));
        line l(domain());
        refuse();
        const std::error_code error = bag.add(*l.handle);
        kernel::fail_nothing();
        if (error) {
            EXPECT_TRUE(is(error, r.error)) << error.message();
            EXPECT_EQ(bag.remove(*l.handle), std::errc::no_such_file_or_directory);
            ASSERT_FALSE(bag.add(*l.handle));
        }
        lives(set, l);
        ASSERT_FALSE(bag.remove(*l.handle));
        ASSERT_FALSE(bag.remove(set));
    });
}

TEST_P(PollsetFaults, AnArmingThatIsRefusedWaitsForNothing) {
    pollset set(domain());
    auto [reader, end] = make_pipe();
    held_handle handle(domain(), std::move(end));
    ASSERT_FALSE(set.add(*handle));
    noted writable;
    kernel::fail(call::epoll_ctl, ENOMEM);
    const std::error_code error = handle->notify_on_write(writable);
    kernel::fail_nothing();
    if (error) {
        EXPECT_TRUE(is(error, ENOMEM)) << error.message();
        EXPECT_FALSE(handle->cancel(writable));
        ASSERT_FALSE(handle->notify_on_write(writable));
    }
    EXPECT_TRUE(until(set, [&] { return writable.calls() != 0; }));
    EXPECT_EQ(writable.calls(), 1);
    EXPECT_FALSE(writable.error());
}

TEST_P(PollsetFaults, AWatchThatTheKernelDoesNotWatchIsCalledAllTheSame) {
    pollset set(domain());
    auto [reader, end] = make_pipe();
    writer watch(set, std::move(end));
    kernel::fail(call::epoll_ctl, ENOMEM);
    watch.arm();
    kernel::fail_nothing();
    EXPECT_TRUE(until(set, [&] { return watch.calls != 0; }));
    EXPECT_EQ(watch.calls, 1);
    watch.remove();
    EXPECT_TRUE(watch.removed);
}

TEST_P(PollsetFaults, AWaitThatFailsIsToldAndLosesNothing) {
    const call wait = GetParam() == poll_strategy::poll ? call::poll : call::epoll_wait;
    pollset set(domain());
    line l(domain());
    ASSERT_FALSE(set.add(*l.handle));
    ASSERT_FALSE(l.handle->notify_on_read(l.readable));
    write_all(l.end.get(), "x");
    for (const int error : {ENOMEM, EINVAL}) {
        kernel::fail(wait, error);
        const result<work_end> end = set.work(soon());
        ASSERT_FALSE(end);
        EXPECT_TRUE(is(end.error(), error)) << end.error().message();
        EXPECT_EQ(l.readable.calls(), 0);
    }
    kernel::fail(wait, EINTR, 0, 3);  // no failure
    EXPECT_TRUE(until(set, [&] { return l.readable.calls() != 0; }));
    EXPECT_EQ(l.readable.calls(), 1);
}

TEST_P(PollsetFaults, WorkersWhoseWaitsFailLeaveAPollerBehind) {
    const call wait = GetParam() == poll_strategy::poll ? call::poll : call::epoll_wait;
    pollset set(domain());
    line l(domain());
    ASSERT_FALSE(set.add(*l.handle));
    ASSERT_FALSE(l.handle->notify_on_read(l.readable));
    kernel::fail(wait, ENOMEM, 0, 7);
    std::atomic<int> failures = 0;
    std::vector<std::thread> workers;
    for (int i = 0; i != 3; ++i) {
        workers.emplace_back([&] {
            for (const time_point end = soon(20s); l.readable.calls() == 0 && clock::now() < end;) {
                failures += !set.work(end);
            }
            set.kick_any();  // the next one: if nobody is inside, it stays for whoever comes
        });
    }
    EXPECT_TRUE(comes([&] { return failures == 7; }));
    write_all(l.end.get(), "x");
    for (std::thread& t : workers) {
        t.join();
    }
    EXPECT_EQ(l.readable.calls(), 1);
}

TEST_P(PollsetFaults, ATimerThatCannotBeMadeThrowsAndTheNextOneFires) {
    pollset set(domain());
    noted due;
    std::vector<refusal> all(refusals.begin(), refusals.end());
    all.push_back({call::timerfd, EMFILE});
    for (const refusal& r : all) {
        kernel::fail(r.which, r.error);
        std::optional<pollset_timer> timer;
        const std::error_code error = thrown_by([&] { timer.emplace(set, due); });
        kernel::fail_nothing();
        EXPECT_TRUE(!error || is(error, r.error)) << error.message();
    }
    pollset_timer timer(set, due);
    ASSERT_FALSE(timer.set_at(clock::now()));
    EXPECT_TRUE(until(set, [&] { return due.calls() != 0; }));
    EXPECT_EQ(due.calls(), 1);
}

EDDY_WITH_EVERY_STRATEGY(PollsetFaults);

}  // namespace
}  // namespace eddy::test::faults_test
