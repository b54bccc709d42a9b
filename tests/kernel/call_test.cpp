// SPDX-License-Identifier: Apache-2.0
#include "kernel/call.hpp"
#include "kernel/io.hpp"
#include "kernel/once.hpp"
#include "support/fds.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace eddy::test::call_test {
namespace {

using namespace eddy;
using kernel::call;

class Faults : public ::testing::Test {
protected:
    ~Faults() override { kernel::fail_nothing(); }
};

TEST_F(Faults, AreNoneUnlessAskedFor) { EXPECT_EQ(kernel::injected(call::read), 0); }

TEST_F(Faults, HitTheNextCallOnly) {
    kernel::fail(call::read, EIO);
    EXPECT_EQ(kernel::injected(call::read), EIO);
    EXPECT_EQ(kernel::injected(call::read), 0);
}

TEST_F(Faults, WaitWhileTheirThreadHoldsThemOff) {
    kernel::fail(call::read, EIO);
    {
        const kernel::faults_held_off here;
        EXPECT_EQ(kernel::injected(call::read), 0);
        const kernel::faults_held_off inside;
    }
    EXPECT_EQ(kernel::injected(call::read), EIO);
}

TEST_F(Faults, HitNoOtherCall) {
    kernel::fail(call::read, EIO);
    EXPECT_EQ(kernel::injected(call::write), 0);
    EXPECT_EQ(kernel::injected(call::read), EIO);
}

TEST_F(Faults, SkipCallsAndHitSeveral) {
    kernel::fail(call::epoll_ctl, ENOSPC, 2, 3);
    for (const int expected : {0, 0, ENOSPC, ENOSPC, ENOSPC, 0}) {
        EXPECT_EQ(kernel::injected(call::epoll_ctl), expected);
    }
}

TEST_F(Faults, CanBeTakenBack) {
    kernel::fail(call::read, EIO, 1, 5);
    kernel::fail_nothing();
    kernel::fail(call::write, EPIPE);
    EXPECT_EQ(kernel::injected(call::read), 0);
    EXPECT_EQ(kernel::injected(call::read), 0);
    EXPECT_EQ(kernel::injected(call::write), EPIPE);
}

TEST_F(Faults, HitACallInsteadOfMakingIt) {
    const auto pipe = test::make_pipe();
    kernel::fail(call::write, ENOSPC);
    EXPECT_EQ(kernel::write(pipe.second.get(), "x", 1, -1), io_result::system_error(ENOSPC));
    EXPECT_EQ(test::bytes_waiting(pipe.first.get()), 0U);
    EXPECT_EQ(kernel::write(pipe.second.get(), "x", 1, -1), io_result::value(1));
}

TEST_F(Faults, AnInterruptedCallIsMadeAgain) {
    const auto pipe = test::make_pipe();
    kernel::fail(call::write, EINTR, 0, 3);
    const auto before = kernel::calls_made();
    EXPECT_EQ(kernel::write(pipe.second.get(), "x", 1, -1), io_result::value(1));
    EXPECT_EQ(kernel::calls_made() - before, 4U);
}

TEST_F(Faults, CloseTheFdAllTheSame) {
    unique_fd fd = test::make_eventfd();
    const int number = fd.release();
    kernel::fail(call::close, EIO);
    EXPECT_EQ(kernel::close(number), io_result::system_error(EIO));
    EXPECT_FALSE(test::is_open(number));
}

TEST_F(Faults, AreCountedUntilTheyAreTakenBack) {
    EXPECT_EQ(kernel::fired(), 0U);
    kernel::fail(call::read, EIO, 1, 2);
    for (const std::uint64_t fired : {0U, 1U, 2U, 2U}) {
        static_cast<void>(kernel::injected(call::read));
        EXPECT_EQ(kernel::fired(), fired);
        EXPECT_EQ(kernel::fired(call::read), fired);
        EXPECT_EQ(kernel::fired(call::write), 0U);
    }
    kernel::fail_nothing();
    EXPECT_EQ(kernel::fired(), 0U);
}

TEST_F(Faults, ShortenATransfer) {
    const auto pipe = test::make_pipe();
    kernel::shorten(call::write, 2, 1);
    EXPECT_EQ(kernel::write(pipe.second.get(), "abc", 3, -1), io_result::value(3));
    EXPECT_EQ(kernel::write(pipe.second.get(), "def", 3, -1), io_result::value(2));
    EXPECT_EQ(kernel::write(pipe.second.get(), "fg", 2, -1), io_result::value(2));
    EXPECT_EQ(kernel::fired(), 1U);
    EXPECT_EQ(test::recv_exactly(pipe.first.get(), 7), "abcdefg");
}

TEST_F(Faults, DoNotShortenWhatIsShortAlready) {
    const auto pipe = test::make_pipe();
    kernel::shorten(call::write, 2);
    EXPECT_EQ(kernel::write(pipe.second.get(), "ab", 2, -1), io_result::value(2));
    EXPECT_EQ(kernel::fired(), 0U);
    EXPECT_EQ(kernel::write(pipe.second.get(), "cde", 3, -1), io_result::value(2));
    EXPECT_EQ(kernel::fired(), 1U);
}

/// What would be moved behind a part that is left out would be in its place.
TEST_F(Faults, ShortenVectorsToAPartOfTheFirst) {
    char first[] = {'a', 'b', 'c'};
    char second[] = {'d', 'e', 'f', 'g'};
    const iovec vectors[] = {{nullptr, 0}, {first, 3}, {second, 4}};
    auto pair = test::unix_stream_pair();
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(vectors);
    message.msg_iovlen = std::size(vectors);
    for (const std::size_t to : {1U, 3U, 5U}) {
        const auto moved = static_cast<std::int64_t>(std::min<std::size_t>(to, 3));
        kernel::shorten(call::send, to);
        EXPECT_EQ(kernel::sendmsg(pair.second.get(), &message, 0), io_result::value(moved));
        EXPECT_EQ(test::recv_exactly(pair.first.get(), static_cast<std::size_t>(moved)),
                  std::string("abc").substr(0, static_cast<std::size_t>(moved)));
    }
    kernel::shorten(call::recv, 2);
    test::send_all(pair.second.get(), "xyz");
    EXPECT_EQ(kernel::recvmsg(pair.first.get(), &message, 0), io_result::value(2));
    EXPECT_EQ(message.msg_iov, vectors);
    EXPECT_EQ(std::string(first, 3), "xyc");
}

TEST(CallsMade, AreCountedForEachThread) {
    const auto before = kernel::calls_made();
    std::thread([] {
        const auto none = kernel::calls_made();
        kernel::once(call::read, [] { return 0; });
        EXPECT_EQ(kernel::calls_made(), none + 1);
    }).join();
    EXPECT_EQ(kernel::calls_made(), before);
    kernel::once(call::read, [] { return 0; });
    EXPECT_EQ(kernel::calls_made(), before + 1);
}

}  // namespace
}  // namespace eddy::test::call_test
