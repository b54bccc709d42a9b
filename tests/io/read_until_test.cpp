// SPDX-License-Identifier: Apache-2.0
#include "io/io_fixture.hpp"

#include <eddy/io/pipe.hpp>
#include <eddy/io/read_until.hpp>

#include <string>
#include <vector>

namespace eddy::test::read_until_test {
namespace {

class ReadUntilTest : public IoTest {
protected:
    void SetUp() override {
        IoTest::SetUp();
        if (!IsSkipped()) {
            pipe_ = make_pipe(loop());
        }
    }
    void TearDown() override {
        pipe_ = pipe_ends();
        IoTest::TearDown();
    }
    void send(std::string_view data) { run(pipe_.writer.write(bytes(data))); }
    auto line(std::string& buffer, std::size_t limit = 1000) {
        return read_until(pipe_.reader, buffer, "\r\n", limit);
    }

    pipe_ends pipe_;
};

TEST_P(ReadUntilTest, ReadsLineAfterLineAndKeepsWhatIsBehind) {
    send("one\r\ntwo\r\n\r\nrest");
    std::string buffer;
    std::vector<std::string> lines;
    for (int i = 0; i != 3; ++i) {
        const std::size_t n = run(line(buffer));
        lines.push_back(buffer.substr(0, n));
        buffer.erase(0, n);
    }
    EXPECT_EQ(lines, (std::vector<std::string>{"one\r\n", "two\r\n", "\r\n"}));
    EXPECT_EQ(buffer, "rest");
}

TEST_P(ReadUntilTest, WhatIsInTheBufferAlreadyNeedsNoRead) {
    std::string buffer = "ready\r\nmore";
    EXPECT_EQ(run(line(buffer)), 7U);
    EXPECT_EQ(buffer, "ready\r\nmore");
}

TEST_P(ReadUntilTest, ADelimiterThatComesInPiecesIsFound) {
    std::string buffer = "a";
    started reading(loop(), line(buffer));
    for (const char* piece : {"b", "\r", "x\r", "\n"}) {
        settle();
        EXPECT_FALSE(reading.ended());
        send(piece);
    }
    ASSERT_TRUE(ends(reading));
    EXPECT_EQ(reading.value(), 6U);
    EXPECT_EQ(buffer, "ab\rx\r\n");
}

TEST_P(ReadUntilTest, LongLinesGrowTheBuffer) {
    const std::string much(50'000, 'm');
    std::vector<char> buffer;
    started reading(loop(), read_until(pipe_.reader, buffer, "\n", 100'000));
    send(much + "\n");
    ASSERT_TRUE(ends(reading));
    EXPECT_EQ(reading.value(), 50'001U);
    EXPECT_EQ(buffer.size(), 50'001U);
}

TEST_P(ReadUntilTest, MoreThanTheLimitIsMessageSize) {
    send(std::string(100, 'x'));
    std::string buffer;
    EXPECT_EQ(error_of(line(buffer, 64)), std::errc::message_size);
    EXPECT_EQ(buffer, std::string(64, 'x'));
    EXPECT_EQ(error_of(line(buffer, 64)), std::errc::message_size);
    std::string late = std::string(63, 'y') + "\r\n";
    EXPECT_EQ(error_of(line(late, 64)), std::errc::message_size);
    EXPECT_EQ(run(line(late, 65)), 65U);
}

TEST_P(ReadUntilTest, ALimitThatTheDelimiterJustFitsIsEnough) {
    send("123\r\n");
    std::string buffer;
    EXPECT_EQ(run(line(buffer, 5)), 5U);
}

TEST_P(ReadUntilTest, TheEndOfTheStreamIsToldApart) {
    send("no end");
    run(pipe_.writer.close());
    std::string buffer;
    EXPECT_EQ(error_of(line(buffer)), make_error_code(errc::end_of_stream));
    EXPECT_EQ(buffer, "no end");
}

TEST_P(ReadUntilTest, APeerThatResetsIsAnErrorAndKeepsWhatWasRead) {
    fd_pair pair = tcp_pair();
    const stream reader(loop(), std::move(pair.first));
    std::string buffer;
    started reading(loop(), read_until(reader, buffer, "\r\n", 100));
    send_all(pair.second.get(), "half");
    ASSERT_TRUE(
        until([&] { return bytes_waiting(reader.native_handle()) == 0 && !buffer.empty(); }));
    settle();
    reset_on_close(pair.second.get());
    pair.second.reset();
    ASSERT_TRUE(ends(reading));
    EXPECT_EQ(reading.error(), std::errc::connection_reset);
    EXPECT_EQ(buffer, "half");
}

TEST_P(ReadUntilTest, ALimitOfNothingIsExceededAtOnce) {
    std::string buffer;
    EXPECT_EQ(error_of(line(buffer, 0)), std::errc::message_size);
    EXPECT_EQ(buffer, "");
}

TEST_P(ReadUntilTest, AnEmptyDelimiterIsRefused) {
    std::string buffer;
    EXPECT_EQ(error_of(read_until(pipe_.reader, buffer, "", 10)), std::errc::invalid_argument);
}

TEST_P(ReadUntilTest, AStopKeepsWhatWasRead) {
    std::string buffer;
    started reading(loop(), line(buffer));
    send("part");
    settle();
    reading.stop();
    ASSERT_TRUE(ends(reading));
    EXPECT_TRUE(reading.stopped());
    EXPECT_EQ(buffer, "part");
    send("ial\r\n");
    EXPECT_EQ(run(line(buffer)), 9U);
}

TEST_P(ReadUntilTest, ClosingTheStreamIsCanceled) {
    std::string buffer = "kept";
    started reading(loop(), line(buffer));
    settle();
    run(pipe_.reader.close());
    ASSERT_TRUE(ends(reading));
    EXPECT_EQ(reading.error(), canceled);
    EXPECT_EQ(buffer, "kept");
    EXPECT_EQ(error_of(line(buffer)), bad_fd);
}

TEST_P(ReadUntilTest, AStopThatComesTogetherWithBytesIsNotLost) {
    std::string buffer;
    started reading(loop(), line(buffer));
    settle();
    // The stop is handled when the bytes are there, but before they are delivered, and they are not
    // enough.
    reading.stop();
    write_all(pipe_.writer.native_handle(), "part");
    ASSERT_TRUE(ends(reading));
    EXPECT_TRUE(reading.stopped());
    send("ial\r\n");
    EXPECT_EQ(run(line(buffer)), 9U);
    EXPECT_EQ(buffer, "partial\r\n");
}

/// A buffer that cannot grow beyond `most`.
template <class Exception>
struct stubborn : std::string {
    using std::string::string;
    void resize(std::size_t size) {
        if (size > most) {
            throw Exception();
        }
        std::string::resize(size);
    }
    std::size_t most = 0;
};

TEST_P(ReadUntilTest, ABufferThatThrowsIsNotEnoughMemory) {
    stubborn<std::bad_alloc> buffer;
    EXPECT_EQ(error_of(read_until(pipe_.reader, buffer, "\n", 10)), std::errc::not_enough_memory);
    stubborn<int> no_standard_exception;
    EXPECT_EQ(error_of(read_until(pipe_.reader, no_standard_exception, "\n", 10)),
              std::errc::not_enough_memory);
}

TEST_P(ReadUntilTest, ABufferThatThrowsLaterKeepsWhatWasRead) {
    stubborn<std::bad_alloc> buffer;
    buffer.most = 600;
    started reading(loop(), read_until(pipe_.reader, buffer, "\n", 10'000));
    send(std::string(600, 'x'));
    ASSERT_TRUE(ends(reading));
    EXPECT_EQ(reading.error(), std::errc::not_enough_memory);
    EXPECT_EQ(buffer.size() + bytes_waiting(pipe_.reader.native_handle()), 600U);
    EXPECT_EQ(buffer, std::string(buffer.size(), 'x'));
}

EDDY_ON_EVERY_ENGINE(ReadUntilTest);

}  // namespace
}  // namespace eddy::test::read_until_test
