// SPDX-License-Identifier: Apache-2.0
// All of a buffer, however many calls that takes: read_all, write_all, readv_all, writev_all.
#include "support/engine_fixture.hpp"
#include "support/pattern.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <thread>

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

namespace eddy::test::whole_transfer_test {
namespace {

class WholeTransfer : public EngineTest {};
EDDY_ON_EVERY_ENGINE(WholeTransfer);

constexpr std::size_t large = 3'000'000;

/// The text in pieces of growing size, with empty ones between.
std::vector<iovec> cut(std::string& text) {
    std::vector<iovec> pieces;
    std::size_t size = 1;
    for (std::size_t at = 0; at < text.size(); at += pieces.back().iov_len) {
        pieces.push_back({nullptr, 0});
        pieces.push_back({text.data() + at, std::min(size, text.size() - at)});
        size *= 3;
    }
    return pieces;
}

class file_size_limit {
public:
    explicit file_size_limit(rlim_t size) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &old_);
        const rlimit limit{size, old_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~file_size_limit() {
        ::setrlimit(RLIMIT_FSIZE, &old_);
        std::signal(SIGXFSZ, handler_);
    }
    file_size_limit(const file_size_limit&) = delete;
    file_size_limit& operator=(const file_size_limit&) = delete;

private:
    rlimit old_{};
    void (*handler_)(int);
};

TEST_P(WholeTransfer, WaitsForAllPiecesOfAStream) {
    for (const pair_maker make : {make_pipe, unix_stream_pair, tcp_pair}) {
        fd_pair pair = make();
        const descriptor d = attach(std::move(pair.first));
        std::string buffer(9, '\0');
        recorder r;
        start(r, read_all(d, bytes(buffer)));
        for (const char* piece : {"abc", "def"}) {
            write_all(pair.second.get(), piece);
            settle();
            ASSERT_FALSE(r.ended());
        }
        write_all(pair.second.get(), "ghi, and what belongs to the next");
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.count(), 9U) << r.error();
        EXPECT_EQ(buffer, "abcdefghi");
    }
}

TEST_P(WholeTransfer, WaitsForSeveralLinesOfATerminal) {
    fd_pair pty = make_pty();
    const descriptor d = attach(std::move(pty.second));
    std::string buffer(8, '\0');
    recorder r;
    start(r, read_all(d, bytes(buffer)));
    write_all(pty.first.get(), "one\n");
    settle();
    ASSERT_FALSE(r.ended());
    write_all(pty.first.get(), "two\n");
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(buffer, "one\ntwo\n");
}

TEST_P(WholeTransfer, WritesToATerminalAllThatItIsGiven) {
    fd_pair pty = make_pty();
    const descriptor d = attach(std::move(pty.second));
    const std::string text(20'000, 'x');
    recorder w;
    start(w, write_all(d, bytes(text)));
    std::size_t seen = 0;
    std::string buffer(4096, '\0');
    ASSERT_TRUE(until_driven([&] {
        if (seen < text.size() && becomes_ready(pty.first.get(), 1, 0)) {
            seen += static_cast<std::size_t>(::read(pty.first.get(), buffer.data(), buffer.size()));
        }
        return w.ended() && seen == text.size();
    }));
    EXPECT_EQ(w.count(), text.size()) << w.error();
}

TEST_P(WholeTransfer, SendsMoreThanFitsIntoTheKernel) {
    for (const pair_maker make : {make_pipe, unix_stream_pair, tcp_pair}) {
        fd_pair pair = make();
        const descriptor d = attach(std::move(pair.second));
        const std::string text = pattern(large);
        recorder w;
        start(w, write_all(d, bytes(text)));
        std::string received(large, '\0');
        const descriptor peer = attach(std::move(pair.first));
        recorder r;
        start(r, read_all(peer, bytes(received)));
        ASSERT_TRUE(ends(w));
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(w.count(), large) << w.error();
        EXPECT_EQ(r.count(), large) << r.error();
        EXPECT_TRUE(received == text);
    }
}

TEST_P(WholeTransfer, GathersAndScattersMoreThanFitsIntoTheKernel) {
    for (const pair_maker make : {make_pipe, unix_stream_pair, tcp_pair}) {
        fd_pair pair = make();
        const descriptor in = attach(std::move(pair.first));
        const descriptor out = attach(std::move(pair.second));
        std::string text = pattern(large);
        const std::string expected = text;
        std::vector<iovec> from = cut(text);
        std::string received(large, '\0');
        std::vector<iovec> to = cut(received);
        recorder w;
        recorder r;
        start(w, writev_all(out, from));
        start(r, readv_all(in, to));
        ASSERT_TRUE(ends(w));
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(w.count(), large) << w.error();
        EXPECT_EQ(r.count(), large) << r.error();
        EXPECT_TRUE(received == expected);
    }
}

/// One byte each, behind as many that are empty.
std::vector<iovec> thousands_of_vectors(std::string& text) {
    std::vector<iovec> vectors(text.size());
    for (char& c : text) {
        vectors.push_back({&c, 1});
    }
    return vectors;
}

TEST_P(WholeTransfer, OfMoreVectorsThanTheKernelTakesIsDoneByMoreCalls) {
    constexpr std::size_t count = 5000;
    const scratch_directory directory;
    for (const pair_maker make : {make_pipe, unix_stream_pair, tcp_pair}) {
        fd_pair pair = make();
        const descriptor in = attach(std::move(pair.first));
        const descriptor out = attach(std::move(pair.second));
        std::string text = pattern(count);
        const std::string expected = text;
        std::vector<iovec> from = thousands_of_vectors(text);
        std::string received(count, '\0');
        std::vector<iovec> to = thousands_of_vectors(received);
        recorder w;
        recorder r;
        start(w, writev_all(out, from));
        start(r, readv_all(in, to));
        ASSERT_TRUE(ends(w));
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(w.count(), count) << w.error();
        EXPECT_EQ(r.count(), count) << r.error();
        EXPECT_EQ(received, expected);
        // What need not be all is what one call takes.
        std::vector<iovec> again = thousands_of_vectors(text);
        start(w, writev(out, again));
        ASSERT_TRUE(ends(w));
        EXPECT_EQ(w.count(), 1024U) << w.error();
    }
    const descriptor file = attach(directory.file("f"));
    std::string text = pattern(count);
    std::vector<iovec> from = thousands_of_vectors(text);
    recorder w;
    start(w, writev_all(file, from, 0));
    ASSERT_TRUE(ends(w));
    EXPECT_EQ(w.count(), count) << w.error();
    EXPECT_EQ(content_of(file.native_handle()), text);
}

TEST_P(WholeTransfer, OfAMessageInMoreVectorsThanTheKernelTakesIsAnError) {
    fd_pair pair = unix_datagram_pair();
    const descriptor d = attach(std::move(pair.first));
    std::string text(2000, 'x');
    std::vector<iovec> from = thousands_of_vectors(text);
    recorder w;
    start(w, writev(d, from));
    ASSERT_TRUE(ends(w));
    EXPECT_TRUE(w.error() == std::errc::message_size || w.error() == std::errc::invalid_argument)
        << w.error();
    EXPECT_EQ(bytes_waiting(pair.second.get()), 0U);
}

TEST_P(WholeTransfer, OfAFileEndsAtItsEnd) {
    const scratch_directory directory;
    const descriptor d = attach(directory.file("f", "0123456789"));
    std::string buffer(64, '\0');
    recorder r;
    start(r, read_all(d, bytes(buffer), 4));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(buffer.substr(0, r.count()), "456789");
    std::string first(3, '\0');
    std::string second(64, '\0');
    std::array<iovec, 2> to{iovec{first.data(), 3}, iovec{second.data(), 64}};
    start(r, readv_all(d, to));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.count(), 10U) << r.error();
    EXPECT_EQ(first + second.substr(0, 7), "0123456789");
}

TEST_P(WholeTransfer, ToAFileThatHasNoRoomTellsHowFarItCame) {
    const scratch_directory directory;
    const descriptor d = attach(directory.file("f", ""));
    const std::string text = pattern(100);
    const file_size_limit limit(150);
    recorder w;
    start(w, write_all(d, bytes(text), 90));
    ASSERT_TRUE(ends(w));
    EXPECT_EQ(w.count(), 60U) << w.error();
    start(w, write_all(d, bytes(text), 150));
    ASSERT_TRUE(ends(w));
    EXPECT_EQ(w.error(), std::errc::file_too_large);
    // Where there is nothing wrong, nothing is said to be.
    std::string buffer(200, '\0');
    recorder r;
    start(r, read_all(d, bytes(buffer), 90));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(buffer.substr(0, r.count()), text.substr(0, 60));
}

/// As on a disk that is full, and then is not.
TEST_P(WholeTransfer, ThatBrokeOffAsksForTheRestAfterwards) {
    const scratch_directory directory;
    const descriptor d = attach(directory.file("f", ""));
    std::string text = pattern(100);
    std::vector<iovec> from = cut(text);
    recorder w;
    {
        const file_size_limit limit(60);
        start(w, writev_all(d, from));
        ASSERT_TRUE(ends(w));
        EXPECT_EQ(w.count(), 60U) << w.error();
    }
    const io_request rest = w.operation().request();
    start(w, rest);
    ASSERT_TRUE(ends(w));
    EXPECT_EQ(w.count(), 40U) << w.error();
    std::string buffer(200, '\0');
    recorder r;
    start(r, read_all(d, bytes(buffer), 0));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(buffer.substr(0, r.count()), text);
}

TEST_P(WholeTransfer, IsWhatAnExecutorDoesToo) {
    eddy::loop elsewhere({.engine = engine_kind::epoll});
    make_loop({.blocking = &elsewhere});
    std::thread thread([&] { elsewhere.run(); });
    {
        const scratch_directory directory;
        const descriptor d = attach(directory.file("f", ""));
        std::string text = pattern(100);
        std::vector<iovec> from = cut(text);
        const file_size_limit limit(150);
        recorder w;
        start(w, writev_all(d, from, 90));
        EXPECT_TRUE(ends(w));
        EXPECT_EQ(w.count(), 60U) << w.error();
        std::string buffer(200, '\0');
        recorder r;
        start(r, read_all(d, bytes(buffer)));
        EXPECT_TRUE(ends(r));
        EXPECT_EQ(r.count(), 150U) << r.error();
        EXPECT_EQ(buffer.substr(90, 60), text.substr(0, 60));
        EXPECT_EQ(w.operation().request().offset, 150);  // the rest, if it is started again
    }
    elsewhere.stop();
    thread.join();
    end_loop();
}

TEST_P(WholeTransfer, TellsHowFarItCameWhenItIsCancelled) {
    fd_pair pipe = make_pipe();
    const descriptor in = attach(std::move(pipe.first));
    const descriptor out = attach(std::move(pipe.second));
    std::string text = pattern(large);
    std::vector<iovec> from = cut(text);
    recorder w;
    start(w, writev_all(out, from));
    settle();
    ASSERT_FALSE(w.ended());
    loop().cancel(w.operation());
    ASSERT_TRUE(ends(w));
    ASSERT_GT(w.count(), 0U) << w.error();
    ASSERT_LT(w.count(), large);
    EXPECT_EQ(bytes_waiting(in.native_handle()), w.count());
}

TEST_P(WholeTransfer, ReportsTheErrorBehindTheFirstBytesNextTime) {
    fd_pair pipe = make_pipe();
    const descriptor out = attach(std::move(pipe.second));
    const std::string text = pattern(large);
    recorder w;
    start(w, write_all(out, bytes(text)));
    settle();
    ASSERT_FALSE(w.ended());
    pipe.first.reset();
    ASSERT_TRUE(ends(w));
    EXPECT_GT(w.count(), 0U) << w.error();
    start(w, write_all(out, bytes(text)));
    ASSERT_TRUE(ends(w));
    EXPECT_EQ(w.error(), std::errc::broken_pipe);
}

TEST_P(WholeTransfer, ReportsTheErrorOfAWriteToNoRead) {
    fd_pair pair = unix_stream_pair();
    const descriptor d = attach(std::move(pair.first));
    const std::string text = pattern(large);
    recorder w;
    start(w, write_all(d, bytes(text)));
    settle();
    ASSERT_FALSE(w.ended());
    send_all(pair.second.get(), "farewell");
    pair.second.reset();
    ASSERT_TRUE(ends(w));
    ASSERT_GT(w.count(), 0U) << w.error();
    std::string buffer(8, '\0');
    recorder r;
    start(r, read_all(d, bytes(buffer)));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.count(), 8U) << r.error();
    EXPECT_EQ(buffer, "farewell");
    start(w, write_all(d, bytes(text)));
    ASSERT_TRUE(ends(w));
    EXPECT_NE(w.error(), std::error_code());
}

TEST_P(WholeTransfer, OfADatagramIsOneDatagram) {
    fd_pair pair = unix_datagram_pair();
    const descriptor d = attach(std::move(pair.first));
    send_all(pair.second.get(), "one");
    send_all(pair.second.get(), "two");
    std::string buffer(64, '\0');
    recorder r;
    start(r, read_all(d, bytes(buffer)));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(buffer.substr(0, r.count()), "one");
}

}  // namespace
}  // namespace eddy::test::whole_transfer_test
