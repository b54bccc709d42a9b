// SPDX-License-Identifier: Apache-2.0
// A test may shorten a transfer of several vectors: see kernel::shorten().
#include "engine/uring/uring_faults.hpp"
#include "kernel/call.hpp"
#include "support/engine_fixture.hpp"
#include "support/passed_fd.hpp"

#include <array>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

namespace eddy::test::short_vectors_test {
namespace {

using kernel::call;

bool can_shorten_in_io_uring() {
#if EDDY_HAS_IO_URING
    return uring_faults::can_inject_results();
#else
    return false;
#endif
}

/// "abc" and "defg", behind a vector without bytes; or room for as much.
class ShortVectors : public EngineTest {
protected:
    void SetUp() override {
        EngineTest::SetUp();
        if (!IsSkipped() && on(engine_kind::io_uring) && !can_shorten_in_io_uring()) {
            GTEST_SKIP() << "results of io_uring cannot be changed before Linux 6.10";
        }
    }
    std::int64_t moved_by(const io_request& request) {
        recorder r;
        start(r, request);
        EXPECT_TRUE(ends(r));
        EXPECT_EQ(kernel::fired(), 1U);
        kernel::fail_nothing();
        return r.result().raw();
    }
    msghdr message() {
        msghdr all{};
        all.msg_iov = vectors.data();
        all.msg_iovlen = vectors.size();
        return all;
    }

    std::array<char, 3> first{'a', 'b', 'c'};
    std::array<char, 4> second{'d', 'e', 'f', 'g'};
    std::array<iovec, 3> vectors{{{nullptr, 0}, {first.data(), 3}, {second.data(), 4}}};
};
EDDY_ON_EVERY_ENGINE(ShortVectors);

TEST_P(ShortVectors, OfAFileAreWrittenAndReadInPart) {
    const scratch_directory scratch;
    const int fd = ::open(scratch.path("f").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const descriptor file = attach(unique_fd(fd));
    kernel::shorten(call::write, 2);
    EXPECT_EQ(moved_by(writev(file, vectors, 0)), 2);
    write_all(fd, "vwxyz");
    kernel::shorten(call::read, 1);
    EXPECT_EQ(moved_by(readv(file, vectors, 0)), 1);
    EXPECT_EQ(std::string_view(first.data(), 3), "vbc");
}

TEST_P(ShortVectors, OfASocketAreWrittenAndReadInPart) {
    fd_pair pair = unix_stream_pair();
    const descriptor socket = attach(std::move(pair.first));
    kernel::shorten(call::send, 2);
    EXPECT_EQ(moved_by(writev(socket, vectors)), 2);
    EXPECT_EQ(recv_exactly(pair.second.get(), 2), "ab");
    send_all(pair.second.get(), "vwxyz");
    kernel::shorten(call::recv, 1);
    EXPECT_EQ(moved_by(readv(socket, vectors)), 1);
    EXPECT_EQ(std::string_view(first.data(), 3), "vbc");
}

TEST_P(ShortVectors, OfAMessageAreSentAndReceivedInPart) {
    fd_pair pair = unix_stream_pair();
    const descriptor socket = attach(std::move(pair.first));
    msghdr sent = message();
    kernel::shorten(call::send, 2);
    EXPECT_EQ(moved_by(sendmsg(socket, sent)), 2);
    EXPECT_EQ(recv_exactly(pair.second.get(), 2), "ab");
    send_all(pair.second.get(), "vwxyz");
    msghdr got = message();
    kernel::shorten(call::recv, 1);
    EXPECT_EQ(moved_by(recvmsg(socket, got)), 1);
    EXPECT_EQ(std::string_view(first.data(), 3), "vbc");
    EXPECT_EQ(got.msg_iov, vectors.data());
}

}  // namespace
}  // namespace eddy::test::short_vectors_test
