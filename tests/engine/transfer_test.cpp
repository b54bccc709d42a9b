// SPDX-License-Identifier: Apache-2.0
// Reading and writing: one buffer, several buffers, with an offset and without, on everything.
#include "support/engine_fixture.hpp"

#include <array>

#include <netinet/in.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

namespace eddy::test::transfer_test {
namespace {

class Transfer : public EngineTest {};
EDDY_ON_EVERY_ENGINE(Transfer);

iovec vector_of(std::string& text) { return {text.data(), text.size()}; }

TEST_P(Transfer, ReadsWhatIsInAPipe) {
    fd_pair pipe = make_pipe();
    const descriptor d = attach(std::move(pipe.first));
    write_all(pipe.second.get(), "hello");
    std::string buffer(64, '\0');
    recorder r;
    start(r, read(d, bytes(buffer)));
    ASSERT_TRUE(ends(r));
    ASSERT_EQ(r.count(), 5U) << r.error();
    EXPECT_EQ(buffer.substr(0, 5), "hello");
}

TEST_P(Transfer, WaitsForWhatIsNotInAPipeYet) {
    fd_pair pipe = make_pipe();
    const descriptor d = attach(std::move(pipe.first));
    std::string buffer(64, '\0');
    recorder r;
    start(r, read(d, bytes(buffer)));
    settle();
    ASSERT_FALSE(r.ended());
    write_all(pipe.second.get(), "late");
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(buffer.substr(0, r.count()), "late");
}

TEST_P(Transfer, ReadsAndWritesOnSockets) {
    for (const pair_maker make : {tcp_pair, unix_stream_pair, unix_packet_pair}) {
        fd_pair pair = make();
        const descriptor d = attach(std::move(pair.first));
        recorder w;
        start(w, write(d, bytes("request")));
        ASSERT_TRUE(ends(w));
        ASSERT_EQ(w.count(), 7U) << w.error();
        EXPECT_EQ(recv_exactly(pair.second.get(), 7), "request");
        send_all(pair.second.get(), "answer");
        std::string buffer(64, '\0');
        recorder r;
        start(r, read(d, bytes(buffer)));
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(buffer.substr(0, r.count()), "answer");
    }
}

TEST_P(Transfer, WorksOnAnFdThatWasNonBlockingBefore) {
    fd_pair pair = tcp_pair();
    set_nonblocking(pair.first.get(), true);
    const descriptor d = attach(std::move(pair.first));
    std::string buffer(64, '\0');
    recorder r;
    start(r, recv(d, bytes(buffer)));
    settle();
    ASSERT_FALSE(r.ended());
    send_all(pair.second.get(), "answer");
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(buffer.substr(0, r.count()), "answer");
}

TEST_P(Transfer, WithoutAnOffsetMovesThePositionOfAFile) {
    const scratch_directory directory;
    const descriptor d = attach(directory.file("f", "0123456789"));
    std::string buffer(4, '\0');
    for (const char* expected : {"0123", "4567", "89"}) {
        recorder r;
        start(r, read(d, bytes(buffer)));
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(buffer.substr(0, r.count()), expected);
    }
    recorder end;
    start(end, read(d, bytes(buffer)));
    ASSERT_TRUE(ends(end));
    EXPECT_TRUE(end.result().ok());
    EXPECT_EQ(end.count(), 0U);
}

TEST_P(Transfer, WithAnOffsetLeavesThePositionOfAFileAlone) {
    const scratch_directory directory;
    const descriptor d = attach(directory.file("f", "0123456789"));
    std::string buffer(3, '\0');
    recorder r;
    start(r, read(d, bytes(buffer), 5));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(buffer, "567");
    recorder w;
    start(w, write(d, bytes("xy"), 1));
    ASSERT_TRUE(ends(w));
    EXPECT_EQ(w.count(), 2U);
    start(r, read(d, bytes(buffer)));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(buffer, "0xy");
    EXPECT_EQ(content_of(d.native_handle()), "0xy3456789");
}

TEST_P(Transfer, AtOffsetZeroIsNotAtThePosition) {
    const scratch_directory directory;
    const descriptor d = attach(directory.file("f", "0123456789"));
    ASSERT_EQ(::lseek(d.native_handle(), 7, SEEK_SET), 7);
    std::string buffer(2, '\0');
    recorder r;
    start(r, read(d, bytes(buffer), 0));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(buffer, "01");
    start(r, read(d, bytes(buffer)));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(buffer, "78");
}

TEST_P(Transfer, WithAnOffsetFailsOnWhatCannotSeek) {
    fd_pair pipe = make_pipe();
    const descriptor d = attach(std::move(pipe.first));
    write_all(pipe.second.get(), "hello");
    std::string buffer(5, '\0');
    recorder r;
    start(r, read(d, bytes(buffer), 0));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::invalid_seek);
}

TEST_P(Transfer, SpreadsOverSeveralBuffers) {
    for (const pair_maker make : {tcp_pair, unix_stream_pair, make_pipe}) {
        fd_pair pair = make();
        const descriptor in = attach(std::move(pair.first));
        const descriptor out = attach(std::move(pair.second));
        std::string one = "abc";
        std::string two = "defgh";
        const std::array<iovec, 2> from{vector_of(one), vector_of(two)};
        recorder w;
        start(w, writev(out, from));
        ASSERT_TRUE(ends(w));
        ASSERT_EQ(w.count(), 8U) << w.error();
        std::string first(6, '\0');
        std::string second(6, '\0');
        const std::array<iovec, 2> to{vector_of(first), vector_of(second)};
        recorder r;
        start(r, readv(in, to));
        ASSERT_TRUE(ends(r));
        ASSERT_EQ(r.count(), 8U) << r.error();
        EXPECT_EQ(first, "abcdef");
        EXPECT_EQ(second.substr(0, 2), "gh");
    }
}

TEST_P(Transfer, SpreadsOverSeveralBuffersOfAFile) {
    const scratch_directory directory;
    const descriptor d = attach(directory.file("f", "........"));
    std::string one = "abc";
    std::string two = "de";
    const std::array<iovec, 2> from{vector_of(one), vector_of(two)};
    recorder w;
    start(w, writev(d, from, 2));
    ASSERT_TRUE(ends(w));
    ASSERT_EQ(w.count(), 5U) << w.error();
    std::string first(3, '\0');
    std::string second(9, '\0');
    const std::array<iovec, 2> to{vector_of(first), vector_of(second)};
    recorder r;
    start(r, readv(d, to));
    ASSERT_TRUE(ends(r));
    ASSERT_EQ(r.count(), 8U) << r.error();
    EXPECT_EQ(first + second.substr(0, 5), "..abcde.");
}

TEST_P(Transfer, PassesTheFlagsOfRecv) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    send_all(pair.second.get(), "abc");
    std::string buffer(8, '\0');
    recorder r;
    start(r, recv(d, bytes(buffer), MSG_PEEK));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.count(), 3U);
    start(r, recv(d, bytes(buffer)));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.count(), 3U);
}

TEST_P(Transfer, IgnoresDontWait) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::string buffer(8, '\0');
    recorder r;
    start(r, recv(d, bytes(buffer), MSG_DONTWAIT));
    settle();
    ASSERT_FALSE(r.ended());
    send_all(pair.second.get(), "abc");
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.count(), 3U);
}

TEST_P(Transfer, KeepsTheBoundariesOfDatagramsAlsoOfEmptyOnes) {
    fd_pair pair = unix_datagram_pair();
    const descriptor in = attach(std::move(pair.first));
    const descriptor out = attach(std::move(pair.second));
    for (const std::string_view text : {"one", "", "three"}) {
        recorder w;
        start(w, send(out, bytes(text)));
        ASSERT_TRUE(ends(w));
        ASSERT_TRUE(w.result().ok()) << w.error();
        EXPECT_EQ(w.count(), text.size());
    }
    std::string buffer(64, '\0');
    for (const std::string_view text : {"one", "", "three"}) {
        recorder r;
        start(r, recv(in, bytes(buffer)));
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(buffer.substr(0, r.count()), text);
    }
}

TEST_P(Transfer, WaitsForADatagramAfterAShortOne) {
    fd_pair pair = unix_datagram_pair();
    const descriptor in = attach(std::move(pair.first));
    std::string buffer(64, '\0');
    for (int i = 0; i != 3; ++i) {
        recorder r;
        start(r, recv(in, bytes(buffer)));
        settle();
        ASSERT_FALSE(r.ended());
        send_all(pair.second.get(), "x");
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.count(), 1U);
    }
}

TEST_P(Transfer, OfAnEmptyBufferIsOverAtOnce) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    recorder r;
    recorder w;
    start(r, read(d, {}));
    start(w, write(d, {}));
    ASSERT_TRUE(ends(r));
    ASSERT_TRUE(ends(w));
    EXPECT_EQ(r.result(), io_result::value(0));
    EXPECT_EQ(w.result(), io_result::value(0));
}

TEST_P(Transfer, OfNoVectorsAtAllIsOverAtOnce) {
    for (const pair_maker make : {tcp_pair, make_pipe}) {
        fd_pair pair = make();
        const descriptor in = attach(std::move(pair.first));
        const descriptor out = attach(std::move(pair.second));
        recorder r;
        recorder w;
        start(r, readv(in, {}));
        start(w, writev(out, {}));
        ASSERT_TRUE(ends(r));
        ASSERT_TRUE(ends(w));
        EXPECT_EQ(r.result(), io_result::value(0)) << r.error();
        EXPECT_EQ(w.result(), io_result::value(0)) << w.error();
    }
}

TEST_P(Transfer, TakesABufferOfThreeGigabytes) {
    constexpr std::size_t size = 3ULL << 30;
    void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    const std::span large(static_cast<std::byte*>(memory), size);
    for (const pair_maker make : {make_pipe, tcp_pair}) {
        fd_pair pair = make();
        const descriptor d = attach(std::move(pair.first));
        recorder r;
        for (int i = 0; i != 2; ++i) {
            start(r, read(d, large));
            settle();
            ASSERT_FALSE(r.ended());
            write_all(pair.second.get(), "small");
            ASSERT_TRUE(ends(r));
            EXPECT_EQ(r.count(), 5U) << r.error();
        }
    }
    ::munmap(memory, size);
}

TEST_P(Transfer, ReadsTheCounterOfAnEventfd) {
    const descriptor d = attach(make_eventfd());
    std::uint64_t value = 0;
    recorder r;
    start(r, read(d, std::as_writable_bytes(std::span(&value, 1))));
    settle();
    ASSERT_FALSE(r.ended());
    recorder w;
    const std::uint64_t three = 3;
    start(w, write(d, std::as_bytes(std::span(&three, 1))));
    ASSERT_TRUE(ends(w));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(value, 3U);
}

TEST_P(Transfer, FromABadAddressIsAnError) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    send_all(pair.second.get(), "abc");
    recorder r;
    start(r, recv(d, std::span(reinterpret_cast<std::byte*>(16), 8)));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::bad_address);
}

TEST_P(Transfer, OnTheWrongKindOfDescriptorIsAnError) {
    fd_pair pipe = make_pipe();
    const descriptor d = attach(std::move(pipe.first));
    std::string buffer(8, '\0');
    recorder r;
    start(r, recv(d, bytes(buffer)));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::not_a_socket);
    start(r, write(d, bytes("to the reading end")));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::bad_file_descriptor);
}

TEST_P(Transfer, ThatIsNotAllowedDoesNotHarmWhatIs) {
    fd_pair pipe = make_pipe();
    const descriptor d = attach(std::move(pipe.first));
    std::string buffer(8, '\0');
    recorder r;
    start(r, read(d, bytes(buffer)));
    recorder w;
    start(w, write(d, bytes("to the reading end")));
    ASSERT_TRUE(ends(w));
    EXPECT_EQ(w.error(), std::errc::bad_file_descriptor);
    settle();
    ASSERT_FALSE(r.ended()) << r.error();
    write_all(pipe.second.get(), "fine");
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.count(), 4U) << r.error();
}

}  // namespace
}  // namespace eddy::test::transfer_test
