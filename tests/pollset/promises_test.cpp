// What the contracts say and a plausible mistake would break.
#include "support/pollset_fixture.hpp"

#include <eddy/pollset/pollset_timer.hpp>

#include <array>
#include <atomic>
#include <string>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace eddy::test {
namespace {

class PollsetPromises : public PollsetTest {
protected:
    /// A closure that stays inside until it is let go.
    struct blocking : closure {
        blocking() noexcept
            : closure([](closure& self, std::error_code) {
                  auto& me = static_cast<blocking&>(self);
                  me.entered = true;
                  EXPECT_TRUE(comes([&] { return me.leave.load(); }));
              }) {}
        std::atomic<bool> entered{false};
        std::atomic<bool> leave{false};
    };

    std::uint64_t waits() { return domain().counters().waits; }
};

TEST_P(PollsetPromises, AShutdownIsDoneWhenTheLastWorkerHasLeftItsClosure) {
    pollset set(domain());
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    blocking closure;
    ASSERT_FALSE(set.add(*handle));
    ASSERT_FALSE(handle->notify_on_read(closure));
    inside one(set);
    write_all(write.get(), "x");
    ASSERT_TRUE(comes([&] { return closure.entered.load(); }));
    noted done;
    set.shutdown(done);
    EXPECT_EQ(done.calls(), 0) << "a thread is inside";
    closure.leave = true;
    EXPECT_EQ(one.join(), work_end::ran);
    EXPECT_EQ(done.calls(), 1);
}

/// The old file stays open behind another number, and its registration with it: whoever closed the
/// fd behind the handle's back took away what it could be named by.
TEST_P(PollsetPromises, AnEventOfTheFileThatHadTheNumberBeforeFindsNobody) {
    pollset set(domain());
    auto [one, one_end] = make_pipe();
    auto [two, two_end] = make_pipe();
    held_handle quiet(domain(), std::move(one));
    held_handle quiet_too(domain(), std::move(two));
    ASSERT_FALSE(set.add(*quiet));
    ASSERT_FALSE(set.add(*quiet_too));

    auto [old_read, old_write] = make_pipe();
    auto [read, write] = make_pipe();
    const int number = old_read.get();
    const unique_fd kept(::dup(number));
    held_handle old(domain(), std::move(old_read));
    noted ended;
    ASSERT_FALSE(set.add(*old));
    ASSERT_FALSE(old->notify_on_read(ended));
    ASSERT_EQ(*set.try_work(), work_end::timed_out);
    ASSERT_EQ(::dup2(read.get(), number), number);
    EXPECT_EQ(old.release().release(), number);
    EXPECT_EQ(ended.error(), std::errc::operation_canceled);

    held_handle next(domain(), unique_fd(number));
    noted readable;
    ASSERT_FALSE(set.add(*next));
    ASSERT_FALSE(next->notify_on_read(readable));
    write_all(old_write.get(), "x");
    EXPECT_EQ(*set.try_work(), work_end::timed_out);
    EXPECT_EQ(readable.calls(), 0);
    if (GetParam() != poll_strategy::poll) {  // which knows numbers only, and has no such event
        EXPECT_EQ(domain().counters().spurious, 1U);
    }
    write_all(write.get(), "x");
    EXPECT_TRUE(until(set, [&] { return readable.calls() == 1; }));
}

TEST_P(PollsetPromises, ARemovalTakesEffectWhileAWorkerIsInTheKernel) {
    pollset set(domain());
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    noted readable;
    ASSERT_FALSE(set.add(*handle));
    ASSERT_FALSE(handle->notify_on_read(readable));
    inside one(set);
    ASSERT_TRUE(comes([&] { return waits() != 0; }));
    const auto before = waits();
    ASSERT_FALSE(set.remove(*handle));
    if (GetParam() == poll_strategy::poll) {
        ASSERT_TRUE(comes([&] { return waits() != before; })) << "it was not called out";
    }
    write_all(write.get(), "x");
    set.kick_any();
    EXPECT_EQ(one.join(), work_end::kicked);
    EXPECT_EQ(domain().counters().events, 0U);
    EXPECT_EQ(readable.calls(), 0);
}

TEST_P(PollsetPromises, AKickWritesAnEventfdForAThreadInTheKernelOnly) {
    pollset set(domain());
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    blocking closure;
    ASSERT_FALSE(set.add(*handle));
    ASSERT_FALSE(handle->notify_on_read(closure));
    inside running(set);
    write_all(write.get(), "x");
    ASSERT_TRUE(comes([&] { return closure.entered.load(); }));
    EXPECT_FALSE(set.kick(running.worker));
    EXPECT_EQ(domain().counters().poller_wakes, 0U) << "it runs a closure";

    const auto before = waits();
    inside polling(set);
    ASSERT_TRUE(comes([&] { return waits() != before; }));
    inside sleeping(set);
    {
        const auto lock = sleeping.once_inside();
        EXPECT_FALSE(set.kick(sleeping.worker));
    }
    EXPECT_EQ(sleeping.join(), work_end::kicked);
    EXPECT_EQ(domain().counters().poller_wakes, 0U) << "it waited for its turn";

    EXPECT_FALSE(set.kick(polling.worker));
    EXPECT_EQ(domain().counters().poller_wakes, 1U);
    EXPECT_EQ(polling.join(), work_end::kicked);
    closure.leave = true;
    EXPECT_EQ(running.join(), work_end::ran);
    EXPECT_EQ(domain().counters().poller_wakes, 1U);
}

TEST_P(PollsetPromises, TimersWithAnotherPriorityAreCalledFirst) {
    pollset set(domain());
    std::string order;
    callback on_low([&](std::error_code) { order += 'l'; });
    callback on_high([&](std::error_code) { order += 'h'; });
    pollset_timer low(set, on_low, 40);
    pollset_timer high(set, on_high, 3);
    const time_point now = clock::now();
    ASSERT_FALSE(low.set_at(now - 2ms));
    ASSERT_FALSE(high.set_at(now - 1ms));
    EXPECT_TRUE(until(set, [&] { return order.size() == 2; }));
    EXPECT_EQ(order, "hl");
}

TEST_P(PollsetPromises, AResetIsAnError) {
    pollset set(domain());
    auto [near, far] = tcp_pair();
    held_handle handle(domain(), std::move(near));
    noted failed;
    ASSERT_FALSE(set.add(*handle));
    ASSERT_FALSE(handle->notify_on_error(failed));
    send_all(far.get(), "x");
    EXPECT_EQ(*set.try_work(), work_end::timed_out) << "data is none";
    reset_on_close(far.get());
    far.reset();
    EXPECT_TRUE(until(set, [&] { return failed.calls() == 1; }));
    EXPECT_FALSE(failed.error());
}

TEST_P(PollsetPromises, TheErrorQueueIsTold) {
    pollset set(domain());
    // A socket that listens to itself alone: others are told that nobody is there.
    const unique_fd deaf(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    socklen_t length = sizeof address;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const at = reinterpret_cast<sockaddr*>(&address);
    ASSERT_EQ(::bind(deaf.get(), at, length), 0);
    ASSERT_EQ(::getsockname(deaf.get(), at, &length), 0);
    ASSERT_EQ(::connect(deaf.get(), at, length), 0);
    unique_fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int on = 1;
    ASSERT_EQ(::setsockopt(fd.get(), IPPROTO_IP, IP_RECVERR, &on, sizeof on), 0);
    held_handle handle(domain(), std::move(fd));
    noted failed;
    ASSERT_FALSE(set.add(*handle));
    ASSERT_FALSE(handle->notify_on_error(failed));
    EXPECT_EQ(*set.try_work(), work_end::timed_out);
    ASSERT_EQ(::sendto(handle->fd(), "x", 1, 0, at, length), 1);
    EXPECT_TRUE(until(set, [&] { return failed.calls() == 1; }));
    char byte = 0;
    iovec into{&byte, 1};
    std::array<char, 512> control{};
    msghdr message{};
    message.msg_iov = &into;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    EXPECT_EQ(::recvmsg(handle->fd(), &message, MSG_ERRQUEUE | MSG_DONTWAIT), 1);
}

TEST_P(PollsetPromises, AnOrphanLeavesEveryPollsetAndSet) {
    pollset one(domain());
    pollset two(domain());
    pollset three(domain());
    pollset_set bag(domain());
    ASSERT_FALSE(bag.add(three));
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    ASSERT_FALSE(one.add(*handle));
    ASSERT_FALSE(two.add(*handle));
    ASSERT_FALSE(bag.add(*handle));
    noted readable;
    ASSERT_FALSE(handle->notify_on_read(readable));
    const unique_fd back = handle.release();
    EXPECT_TRUE(handle.done());
    EXPECT_EQ(readable.error(), std::errc::operation_canceled);
    write_all(write.get(), "x");
    for (pollset* const set : {&one, &two, &three}) {
        EXPECT_EQ(*set->try_work(), work_end::timed_out);
        EXPECT_EQ(set->remove(*handle), std::errc::no_such_file_or_directory);
    }
    EXPECT_EQ(bag.remove(*handle), std::errc::no_such_file_or_directory);
    EXPECT_EQ(domain().counters().events, 0U);
    EXPECT_EQ(readable.calls(), 1);
}

TEST_P(PollsetPromises, ReleasedInsideItsClosureTheFdStaysAndTheEndIsToldAfterwards) {
    pollset set(domain());
    auto [read, write] = make_pipe();
    const int fd = read.get();
    held_handle handle(domain(), std::move(read));
    unique_fd back;
    bool done_inside = true;
    callback readable([&](std::error_code) {
        back = handle.release();
        done_inside = handle.done();
    });
    ASSERT_FALSE(set.add(*handle));
    ASSERT_FALSE(handle->notify_on_read(readable));
    write_all(write.get(), "x");
    ASSERT_TRUE(until(set, [&] { return static_cast<bool>(back); }));
    EXPECT_FALSE(done_inside) << "a thread was still inside";
    EXPECT_TRUE(handle.done());
    EXPECT_EQ(back.get(), fd);
    EXPECT_TRUE(is_open(fd));
    const auto before = domain().counters().events;
    write_all(write.get(), "x");
    EXPECT_EQ(*set.try_work(), work_end::timed_out);
    EXPECT_EQ(domain().counters().events, before);
}

EDDY_WITH_EVERY_STRATEGY(PollsetPromises);

}  // namespace
}  // namespace eddy::test
