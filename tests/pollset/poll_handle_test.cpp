// SPDX-License-Identifier: Apache-2.0
#include "support/pollset_fixture.hpp"

#include <array>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace eddy::test::poll_handle_test {
namespace {

class PollHandle : public PollsetTest {};

TEST_P(PollHandle, CallsAClosureThatWasArmedBeforeTheEvent) {
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    pollset set(domain());
    ASSERT_FALSE(set.add(*handle));
    noted readable;
    ASSERT_FALSE(handle->notify_on_read(readable));
    EXPECT_EQ(*set.try_work(), work_end::timed_out);
    EXPECT_EQ(readable.calls(), 0);
    write_all(write.get(), "x");
    EXPECT_EQ(*set.work(soon()), work_end::ran);
    EXPECT_EQ(readable.calls(), 1);
    EXPECT_FALSE(readable.error());
    EXPECT_EQ(*set.try_work(), work_end::timed_out) << "once for each arming";
    EXPECT_EQ(readable.calls(), 1);
}

TEST_P(PollHandle, CallsAClosureThatWasArmedAfterTheEvent) {
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    pollset set(domain());
    ASSERT_FALSE(set.add(*handle));
    write_all(write.get(), "x");
    settle(set);
    noted readable;
    ASSERT_FALSE(handle->notify_on_read(readable));
    EXPECT_EQ(readable.calls(), 0) << "not inside the call that arms it";
    EXPECT_TRUE(until(set, [&] { return readable.calls() == 1; }));
}

TEST_P(PollHandle, TellsEachEventOnce) {
    auto [read, write] = make_pipe();
    const int fd = read.get();
    held_handle handle(domain(), std::move(read));
    pollset set(domain());
    ASSERT_FALSE(set.add(*handle));
    noted readable;
    for (int round = 1; round <= 100; ++round) {
        ASSERT_FALSE(handle->notify_on_read(readable));
        write_all(write.get(), "x");
        ASSERT_TRUE(until(set, [&] { return readable.calls() == round; }));
        char byte = 0;
        ASSERT_EQ(::read(fd, &byte, 1), 1);
    }
    ASSERT_FALSE(handle->notify_on_read(readable));
    EXPECT_EQ(*set.try_work(), work_end::timed_out);
    EXPECT_EQ(readable.calls(), 100);
}

TEST_P(PollHandle, RefusesASecondClosureForTheSameEvent) {
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    pollset set(domain());
    ASSERT_FALSE(set.add(*handle));
    noted first;
    noted second;
    ASSERT_FALSE(handle->notify_on_read(first));
    EXPECT_EQ(handle->notify_on_read(second), std::errc::connection_already_in_progress);
    write_all(write.get(), "x");
    EXPECT_TRUE(until(set, [&] { return first.calls() == 1; }));
    ASSERT_FALSE(handle->notify_on_read(second));
    write_all(write.get(), "x");
    EXPECT_TRUE(until(set, [&] { return second.calls() == 1; }));
    EXPECT_EQ(first.calls(), 1);
}

TEST_P(PollHandle, KnowsBothDirections) {
    auto [near, far] = tcp_pair();
    held_handle handle(domain(), std::move(near));
    pollset set(domain());
    ASSERT_FALSE(set.add(*handle));
    noted readable;
    noted writable;
    ASSERT_FALSE(handle->notify_on_read(readable));
    ASSERT_FALSE(handle->notify_on_write(writable));
    EXPECT_TRUE(until(set, [&] { return writable.calls() == 1; }));
    EXPECT_EQ(readable.calls(), 0);
    send_all(far.get(), "x");
    EXPECT_TRUE(until(set, [&] { return readable.calls() == 1; }));
    EXPECT_EQ(writable.calls(), 1);
}

TEST_P(PollHandle, TellsOfAHangUpInBothDirections) {
    auto [near, far] = unix_stream_pair();
    held_handle handle(domain(), std::move(near));
    pollset set(domain());
    ASSERT_FALSE(set.add(*handle));
    noted readable;
    noted writable;
    while (::send(handle->fd(), "0123456789", 10, MSG_DONTWAIT) > 0) {}
    settle(set);
    ASSERT_FALSE(handle->notify_on_read(readable));
    ASSERT_FALSE(handle->notify_on_write(writable));
    far.reset();
    EXPECT_TRUE(until(set, [&] { return readable.calls() == 1 && writable.calls() == 1; }));
}

TEST_P(PollHandle, TakesASingleWaitBack) {
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    pollset set(domain());
    ASSERT_FALSE(set.add(*handle));
    noted first;
    noted second;
    ASSERT_FALSE(handle->notify_on_read(first));
    EXPECT_TRUE(handle->cancel(first));
    EXPECT_FALSE(handle->cancel(first));
    ASSERT_FALSE(handle->notify_on_read(second));
    write_all(write.get(), "x");
    EXPECT_TRUE(until(set, [&] { return second.calls() == 1; }));
    EXPECT_EQ(first.calls(), 0);
    EXPECT_FALSE(handle->cancel(second)) << "it has run";
}

TEST_P(PollHandle, ACancelledWaitDoesNotSwallowTheEvent) {
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    pollset set(domain());
    ASSERT_FALSE(set.add(*handle));
    noted first;
    noted second;
    ASSERT_FALSE(handle->notify_on_read(first));
    ASSERT_TRUE(handle->cancel(first));
    write_all(write.get(), "x");
    settle(set);
    ASSERT_FALSE(handle->notify_on_read(second));
    EXPECT_TRUE(until(set, [&] { return second.calls() == 1; }));
}

TEST_P(PollHandle, EndsWaitsWithTheErrorOfTheShutdown) {
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    pollset set(domain());
    ASSERT_FALSE(set.add(*handle));
    noted now;
    noted later;
    ASSERT_FALSE(handle->notify_on_read(now));
    EXPECT_FALSE(handle->is_shut_down());
    handle->shutdown(std::make_error_code(std::errc::host_unreachable));
    handle->shutdown(std::make_error_code(std::errc::timed_out));
    EXPECT_TRUE(handle->is_shut_down());
    EXPECT_TRUE(until(set, [&] { return now.calls() == 1; }));
    EXPECT_EQ(now.error(), std::errc::host_unreachable) << "the first call decides";
    ASSERT_FALSE(handle->notify_on_write(later));
    EXPECT_TRUE(until(set, [&] { return later.calls() == 1; }));
    EXPECT_EQ(later.error(), std::errc::host_unreachable);
}

TEST_P(PollHandle, WithoutAPollsetTheEndIsToldInsideTheCall) {
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    noted now;
    noted later;
    ASSERT_FALSE(handle->notify_on_read(now));
    handle->shutdown(std::make_error_code(std::errc::host_unreachable));
    EXPECT_EQ(now.calls(), 1);
    ASSERT_FALSE(handle->notify_on_read(later));
    EXPECT_EQ(later.error(), std::errc::host_unreachable);
}

TEST_P(PollHandle, AnOrphanIsClosedWhenItIsDone) {
    auto [read, write] = make_pipe();
    const int fd = read.get();
    held_handle handle(domain(), std::move(read));
    pollset set(domain());
    ASSERT_FALSE(set.add(*handle));
    noted readable;
    ASSERT_FALSE(handle->notify_on_read(readable));
    handle.orphan();
    EXPECT_TRUE(handle.done());
    EXPECT_EQ(readable.calls(), 1);
    EXPECT_EQ(readable.error(), std::errc::operation_canceled);
    EXPECT_FALSE(is_open(fd));
    EXPECT_EQ(handle->fd(), -1);
}

TEST_P(PollHandle, AReleasedFdStaysOpenAndSendsNoMoreEvents) {
    auto [read, write] = make_pipe();
    const int fd = read.get();
    held_handle handle(domain(), std::move(read));
    pollset set(domain());
    ASSERT_FALSE(set.add(*handle));
    const unique_fd back = handle.release();
    EXPECT_TRUE(handle.done());
    EXPECT_EQ(back.get(), fd);
    EXPECT_TRUE(is_open(fd));
    write_all(write.get(), "x");
    const auto before = domain().counters().events;
    EXPECT_EQ(*set.try_work(), work_end::timed_out);
    EXPECT_EQ(domain().counters().events, before);
}

TEST_P(PollHandle, CanBeOrphanedInsideItsOwnClosure) {
    auto [read, write] = make_pipe();
    const int fd = read.get();
    held_handle handle(domain(), std::move(read));
    pollset set(domain());
    ASSERT_FALSE(set.add(*handle));
    bool done_inside = true;
    callback readable([&](std::error_code) {
        handle.orphan();
        done_inside = handle.done();
    });
    ASSERT_FALSE(handle->notify_on_read(readable));
    write_all(write.get(), "x");
    EXPECT_EQ(*set.work(soon()), work_end::ran);
    EXPECT_FALSE(done_inside) << "a thread was still inside";
    EXPECT_TRUE(handle.done());
    EXPECT_FALSE(is_open(fd));
}

TEST_P(PollHandle, TheNextHandleOfThatNumberGetsNoEventOfTheLast) {
    auto [read, write] = make_pipe();
    const int fd = read.get();
    pollset set(domain());
    noted old;
    {
        held_handle handle(domain(), std::move(read));
        ASSERT_FALSE(set.add(*handle));
        ASSERT_FALSE(handle->notify_on_read(old));
        write_all(write.get(), "x");
    }
    auto [next, next_write] = make_pipe();
    ASSERT_EQ(next.get(), fd);
    held_handle handle(domain(), std::move(next));
    ASSERT_FALSE(set.add(*handle));
    noted fresh;
    ASSERT_FALSE(handle->notify_on_read(fresh));
    EXPECT_EQ(*set.try_work(), work_end::timed_out);
    EXPECT_EQ(fresh.calls(), 0);
    EXPECT_EQ(old.error(), std::errc::operation_canceled);
}

TEST_P(PollHandle, WhatCannotBePolledIsAnError) {
    scratch_directory directory;
    held_handle file(domain(), directory.file("f", "x"));
    pollset set(domain());
    EXPECT_EQ(set.add(*file), std::errc::operation_not_permitted);

    auto [read, write] = make_pipe();
    const int number = read.get();
    held_handle first(domain(), std::move(read));
    poll_handle same(domain(), unique_fd(number));
    ASSERT_FALSE(set.add(*first));
    EXPECT_EQ(set.add(*first), std::errc::file_exists);
    EXPECT_EQ(set.add(same), std::errc::file_exists) << "another handle has that fd";
    EXPECT_FALSE(set.remove(*first));
    EXPECT_EQ(set.remove(*first), std::errc::no_such_file_or_directory);
    noted done;
    static_cast<void>(same.release(done).release());
    EXPECT_EQ(done.calls(), 1);

    held_handle none(domain(), unique_fd());
    EXPECT_EQ(set.add(*none), std::errc::bad_file_descriptor);

    poll_domain other({.strategy = GetParam()});
    pollset foreign(other);
    EXPECT_EQ(foreign.add(*first), std::errc::invalid_argument);
}

TEST_P(PollHandle, WithAnotherPriorityIsServedFirst) {
    auto [low_read, low_write] = make_pipe();
    auto [high_read, high_write] = make_pipe();
    held_handle low(domain(), std::move(low_read), {.priority = 40});
    held_handle high(domain(), std::move(high_read), {.priority = 3});
    pollset set(domain());
    ASSERT_FALSE(set.add(*low));
    ASSERT_FALSE(set.add(*high));
    std::string order;
    callback on_low([&](std::error_code) { order += 'l'; });
    callback on_high([&](std::error_code) { order += 'h'; });
    ASSERT_FALSE(low->notify_on_read(on_low));
    ASSERT_FALSE(high->notify_on_read(on_high));
    low->make_ready(poll_event_kind::read);
    high->make_ready(poll_event_kind::read);
    EXPECT_TRUE(until(set, [&] { return order.size() == 2; }));
    EXPECT_EQ(order, "hl");
}

/// The old file stays open behind another number, and its registration with it: whoever closed the
/// fd behind the handle's back took away what it could be named by.
TEST_P(PollHandle, AnEventOfTheFileThatHadTheNumberBeforeFindsNobody) {
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

TEST_P(PollHandle, AResetIsAnError) {
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

TEST_P(PollHandle, TheErrorQueueIsTold) {
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

TEST_P(PollHandle, AnOrphanLeavesEveryPollsetAndSet) {
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

TEST_P(PollHandle, ReleasedInsideItsClosureTheFdStaysAndTheEndIsToldAfterwards) {
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

EDDY_WITH_EVERY_STRATEGY(PollHandle);

}  // namespace
}  // namespace eddy::test::poll_handle_test
