// SPDX-License-Identifier: Apache-2.0
// A file to a socket: send_file.
#include "support/engine_fixture.hpp"
#include "support/pattern.hpp"

#include <csignal>

#include <fcntl.h>
#include <sys/socket.h>

namespace eddy::test::send_file_test {
namespace {

class SendFile : public EngineTest {
protected:
    /// What comes out at `peer` while `r` goes on; read in pieces, with turns of the loop between.
    std::string drain(int peer, recorder& r, std::size_t size, std::size_t at_once = 100'000) {
        std::string received;
        std::string buffer(at_once, '\0');
        until_driven(
            [&] {
                const auto n = ::recv(peer, buffer.data(), buffer.size(), MSG_DONTWAIT);
                received.append(buffer, 0, n > 0 ? static_cast<std::size_t>(n) : 0);
                return r.ended() && received.size() >= size;
            },
            20s);
        return received;
    }

    const scratch_directory directory_;
};
EDDY_ON_EVERY_ENGINE(SendFile);

TEST_P(SendFile, SendsAllOfALargeFileToASlowReader) {
    const std::string content = pattern(5'000'000);
    const unique_fd file = directory_.file("f", content);
    for (const pair_maker make : {tcp_pair, unix_stream_pair}) {
        fd_pair pair = make();
        const descriptor d = attach(std::move(pair.first));
        recorder r;
        start(r, send_file(d, file.get(), 0, content.size()));
        settle();
        ASSERT_FALSE(r.ended());
        EXPECT_TRUE(drain(pair.second.get(), r, content.size()) == content);
        EXPECT_EQ(r.count(), content.size()) << r.error();
    }
}

TEST_P(SendFile, BeginsAtTheOffsetAndLeavesThePositionAlone) {
    const unique_fd file = directory_.file("f", "0123456789");
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    recorder r;
    start(r, send_file(d, file.get(), 3, 4));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.count(), 4U) << r.error();
    EXPECT_EQ(recv_exactly(pair.second.get(), 4), "3456");
    EXPECT_EQ(::lseek(file.get(), 0, SEEK_CUR), 0);
    for (const char* expected : {"012345", "6789"}) {
        start(r, send_file(d, file.get(), at_position, 6));
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(recv_exactly(pair.second.get(), r.count()), expected);
    }
}

TEST_P(SendFile, EndsAtTheEndOfTheFile) {
    const unique_fd file = directory_.file("f", "0123456789");
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    recorder r;
    start(r, send_file(d, file.get(), 6, 1'000'000));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.count(), 4U) << r.error();
    start(r, send_file(d, file.get(), 10, 5));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.result(), io_result::value(0)) << r.error();
    start(r, send_file(d, file.get(), 0, 0));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.result(), io_result::value(0)) << r.error();
    // The socket was not full: what is sent next does not wait for room.
    start(r, send(d, bytes("!")));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(recv_exactly(pair.second.get(), 5), "6789!");
}

TEST_P(SendFile, KeepsItsPlaceBetweenSends) {
    const std::string content = pattern(3'000'000);
    const unique_fd file = directory_.file("f", content);
    for (const pair_maker make : {tcp_pair, unix_stream_pair}) {
        fd_pair pair = make();
        const descriptor d = attach(std::move(pair.first));
        recorder before;
        recorder r;
        recorder after;
        start(before, eddy::send_all(d, bytes("head")));
        start(r, send_file(d, file.get(), 0, content.size()));
        start(after, eddy::send_all(d, bytes("tail")));
        const std::string received = drain(pair.second.get(), after, content.size() + 8);
        EXPECT_TRUE(received == "head" + content + "tail");
        EXPECT_EQ(before.count(), 4U);
        EXPECT_EQ(r.count(), content.size()) << r.error();
    }
}

TEST_P(SendFile, LeavesTheOtherOperationsOfItsSocketWaiting) {
    const std::string content = pattern(1'000'000);
    const unique_fd file = directory_.file("f", content);
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::string early(16, '\0');
    recorder reader;
    start(reader, recv(d, bytes(early)));
    settle();
    recorder r;
    start(r, send_file(d, file.get(), 0, content.size()));
    EXPECT_TRUE(drain(pair.second.get(), r, content.size()) == content);
    ASSERT_FALSE(reader.ended()) << reader.error();
    send_all(pair.second.get(), "one");
    ASSERT_TRUE(ends(reader));
    EXPECT_EQ(early.substr(0, reader.count()), "one");
    // From here on the socket does not block by itself: what is started has to wait all the same.
    start(reader, recv(d, bytes(early)));
    settle();
    ASSERT_FALSE(reader.ended()) << reader.error();
    const std::string text = pattern(40'000'000);  // more than the kernel's buffers grow to
    recorder sender;
    start(sender, eddy::send_all(d, bytes(text)));
    settle();
    ASSERT_FALSE(sender.ended()) << sender.error();
    EXPECT_TRUE(drain(pair.second.get(), sender, text.size()) == text);
    EXPECT_EQ(sender.count(), text.size()) << sender.error();
    send_all(pair.second.get(), "two");
    ASSERT_TRUE(ends(reader));
    EXPECT_EQ(early.substr(0, reader.count()), "two");
}

TEST_P(SendFile, TellsHowFarItCameWhenItIsCancelled) {
    const std::string content = pattern(8'000'000);
    const unique_fd file = directory_.file("f", content);
    fd_pair pair = unix_stream_pair();
    const descriptor d = attach(std::move(pair.first));
    recorder r;
    start(r, send_file(d, file.get(), 0, content.size()));
    settle();
    ASSERT_FALSE(r.ended());
    loop().cancel(r.operation());
    ASSERT_TRUE(ends(r));
    ASSERT_GT(r.count(), 0U) << r.error();
    ASSERT_LT(r.count(), content.size());
    EXPECT_TRUE(recv_exactly(pair.second.get(), r.count()) == content.substr(0, r.count()));
    EXPECT_EQ(bytes_waiting(pair.second.get()), 0U);
}

TEST_P(SendFile, ToAPeerThatIsGoneIsAnErrorAndNoSignal) {
    const unique_fd file = directory_.file("f", pattern(5'000'000));
    struct sigaction fatal{};
    struct sigaction old{};
    fatal.sa_handler = SIG_DFL;
    ASSERT_EQ(::sigaction(SIGPIPE, &fatal, &old), 0);
    for (const pair_maker make : {tcp_pair, unix_stream_pair}) {
        fd_pair pair = make();
        const descriptor d = attach(std::move(pair.first));
        recorder r;
        start(r, send_file(d, file.get(), 0, 5'000'000));
        settle();
        ASSERT_FALSE(r.ended());
        pair.second.reset();
        ASSERT_TRUE(ends(r));
        EXPECT_GT(r.count(), 0U) << r.error();
        start(r, send_file(d, file.get(), 0, 5));
        ASSERT_TRUE(ends(r));
        EXPECT_TRUE(r.error() == std::errc::broken_pipe || r.error() == std::errc::connection_reset)
            << r.error();
        start(r, send_file(d, file.get(), 0, 5));
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.error(), std::errc::broken_pipe);
    }
    ::sigaction(SIGPIPE, &old, nullptr);
}

TEST_P(SendFile, GivesTheSocketBackAsItWas) {
    const unique_fd file = directory_.file("f", "0123456789");
    for (const bool nonblocking : {false, true}) {
        fd_pair pair = tcp_pair();
        set_nonblocking(pair.first.get(), nonblocking);
        descriptor d = attach(std::move(pair.first));
        recorder r;
        start(r, send_file(d, file.get(), 0, 10));
        ASSERT_TRUE(ends(r));
        unique_fd back;
        ASSERT_FALSE(d.release(back));
        EXPECT_EQ(is_nonblocking(back.get()), nonblocking);
    }
}

TEST_P(SendFile, OfWhatIsNoFileOrToWhatIsNoSocketIsAnError) {
    fd_pair pair = tcp_pair();
    fd_pair pipe = make_pipe();
    const descriptor d = attach(std::move(pair.first));
    const descriptor p = attach(std::move(pipe.second));
    const unique_fd file = directory_.file("f", "0123456789");
    recorder r;
    start(r, send_file(d, -1, 0, 10));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::bad_file_descriptor);
    start(r, send_file(d, pair.second.get(), 0, 10));
    ASSERT_TRUE(ends(r));
    EXPECT_FALSE(r.result().ok());
    start(r, send_file(p, file.get(), 0, 10));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::not_a_socket);
    start(r, send_file(d, file.get(), 0, 10));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.count(), 10U) << r.error();
}

TEST_P(SendFile, TakesTurnsWithOthers) {
    const std::string content = pattern(64'000'000);
    const unique_fd file = directory_.file("f", content);
    fd_pair pair = unix_stream_pair();
    const descriptor d = attach(std::move(pair.first));
    const descriptor peer = attach(std::move(pair.second));
    fd_pair other = tcp_pair();
    const descriptor quick = attach(std::move(other.first));
    std::string sink(content.size(), '\0');
    std::string buffer(16, '\0');
    recorder big;
    recorder all;
    recorder small;
    start(all, eddy::recv_all(peer, bytes(sink)));
    start(small, recv(quick, bytes(buffer)));
    start(big, send_file(d, file.get(), 0, content.size()));
    send_all(other.second.get(), "now");
    ASSERT_TRUE(ends(small));
    EXPECT_FALSE(big.ended());
    ASSERT_TRUE(ends(all, 20s));
    EXPECT_TRUE(sink == content);
}

}  // namespace
}  // namespace eddy::test::send_file_test
