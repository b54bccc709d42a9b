// SPDX-License-Identifier: Apache-2.0
#include "io/io_fixture.hpp"

#include <eddy/io/pipe.hpp>
#include <eddy/io/stream.hpp>

#include <memory>
#include <stdexcept>

namespace eddy::test::stream_test {
namespace {

class StreamTest : public IoTest {};

TEST_P(StreamTest, APipeCarriesBytesAndEnds) {
    auto [reader, writer] = make_pipe(loop());
    EXPECT_EQ(run(writer.write_some(bytes("hello"))), 5U);
    char buffer[16];
    const std::size_t n = run(reader.read_some(bytes(buffer)));
    EXPECT_EQ(std::string(buffer, n), "hello");
    run(writer.close());
    EXPECT_EQ(run(reader.read_some(bytes(buffer))), 0U);
}

TEST_P(StreamTest, APipeWithoutAReaderIsABrokenPipe) {
    auto [reader, writer] = make_pipe(loop());
    run(reader.close());
    EXPECT_EQ(error_of(writer.write_some(bytes("hello"))), std::errc::broken_pipe);
}

TEST_P(StreamTest, AnEmptyBufferIsReadAtOnce) {
    auto [reader, writer] = make_pipe(loop());
    EXPECT_EQ(run(reader.read_some(std::span<std::byte>())), 0U);
    EXPECT_EQ(run(writer.write_some(std::span<const std::byte>())), 0U);
}

TEST_P(StreamTest, NothingIsReadAndWrittenAtOnceOnWhateverThereIs) {
    const iovec empty[] = {{nullptr, 0}, {nullptr, 0}};
    iovec consumed[] = {{nullptr, 0}};
    for (const pair_maker make : {test::make_pipe, unix_stream_pair, tcp_pair}) {
        fd_pair pair = make();
        const stream reader(loop(), std::move(pair.first));
        const stream writer(loop(), std::move(pair.second));
        EXPECT_EQ(run(reader.read_some(std::span<std::byte>())), 0U);
        EXPECT_EQ(run(reader.read(std::span<std::byte>())), 0U);
        EXPECT_EQ(run(reader.read_some(std::span<const iovec>(empty))), 0U);
        EXPECT_EQ(run(reader.read(std::span<iovec>(consumed))), 0U);
        EXPECT_EQ(run(writer.write_some(std::span<const std::byte>())), 0U);
        EXPECT_EQ(run(writer.write(std::span<const std::byte>())), 0U);
        EXPECT_EQ(run(writer.write_some(std::span<const iovec>(empty))), 0U);
        EXPECT_EQ(run(writer.write(std::span<iovec>(consumed))), 0U);
    }
}

TEST_P(StreamTest, AStoppedReadLeavesTheBytesForTheNext) {
    auto [reader, writer] = make_pipe(loop());
    char buffer[16];
    started reading(loop(), reader.read_some(bytes(buffer)));
    settle();
    reading.stop();
    ASSERT_TRUE(ends(reading));
    EXPECT_TRUE(reading.stopped());
    run(writer.write_some(bytes("kept")));
    EXPECT_EQ(run(reader.read_some(bytes(buffer))), 4U);
}

TEST_P(StreamTest, ScattersAndGathers) {
    auto [reader, writer] = make_pipe(loop());
    char hello[] = "hello ";
    char world[] = "world";
    const iovec out[] = {{hello, 6}, {world, 5}};
    EXPECT_EQ(run(writer.write_some(std::span<const iovec>(out))), 11U);
    char first[3];
    char rest[20];
    const iovec in[] = {{first, 3}, {rest, 20}};
    ASSERT_EQ(run(reader.read_some(std::span<const iovec>(in))), 11U);
    EXPECT_EQ(std::string(first, 3), "hel");
    EXPECT_EQ(std::string(rest, 8), "lo world");
}

TEST_P(StreamTest, ATerminalIsAStream) {
    fd_pair pty = make_pty();
    stream terminal(loop(), std::move(pty.second));
    write_all(pty.first.get(), "line\n");
    char buffer[16];
    EXPECT_EQ(run(terminal.read_some(bytes(buffer))), 5U);
    EXPECT_EQ(run(terminal.write_some(bytes("ok"))), 2U);
}

TEST_P(StreamTest, AnExceptionOfTheUsersFunctionArrivesAsOne) {
    auto [reader, writer] = make_pipe(loop());
    auto thrower = writer.write_some(bytes("x")) |
                   ex::then([](std::size_t) -> int { throw std::runtime_error("mine"); });
    EXPECT_THROW(loop().run(std::move(thrower)), std::runtime_error);
    char buffer[4];
    EXPECT_EQ(run(reader.read_some(bytes(buffer))), 1U);
}

TEST_P(StreamTest, WritesAndReadsAllOfItThroughAPipeThatIsTooSmall) {
    auto [reader, writer] = make_pipe(loop());
    std::string sent(1'000'000, 'a');
    for (std::size_t i = 0; i != sent.size(); ++i) {
        sent[i] = static_cast<char>(i * 7 + i / 251);
    }
    std::string received(sent.size(), '\0');
    const auto [read, written] = run_both(reader.read(bytes(received)), writer.write(bytes(sent)));
    EXPECT_EQ(read, sent.size());
    EXPECT_EQ(written, sent.size());
    EXPECT_EQ(received, sent);
}

TEST_P(StreamTest, ReadReturnsWhatCameBeforeTheEnd) {
    auto [reader, writer] = make_pipe(loop());
    run(writer.write(bytes("half")));
    run(writer.close());
    char buffer[8];
    EXPECT_EQ(run(reader.read(bytes(buffer))), 4U);
    EXPECT_EQ(run(reader.read(bytes(buffer))), 0U);
}

TEST_P(StreamTest, AWriteThatBreaksOffFails) {
    auto [reader, writer] = make_pipe(loop());
    const std::string much(1'000'000, 'x');
    started writing(loop(), writer.write(bytes(much)));
    char buffer[1000];
    run(reader.read(bytes(buffer)));
    run(reader.close());
    ASSERT_TRUE(ends(writing));
    EXPECT_EQ(writing.error(), std::errc::broken_pipe);
}

TEST_P(StreamTest, AWriteOfVectorsThatBreaksOffFails) {
    auto [reader, writer] = make_pipe(loop());
    std::string much(500'000, 'x');
    iovec vectors[] = {{much.data(), much.size()}, {much.data(), much.size()}};
    started writing(loop(), writer.write(std::span<iovec>(vectors)));
    char buffer[1000];
    run(reader.read(bytes(buffer)));
    run(reader.close());
    ASSERT_TRUE(ends(writing));
    EXPECT_EQ(writing.error(), std::errc::broken_pipe);
}

TEST_P(StreamTest, VectorsAreMovedAsAWhole) {
    auto [reader, writer] = make_pipe(loop());
    std::string first(300'000, '1');
    std::string second(200'000, '2');
    iovec vectors[] = {{first.data(), first.size()}, {second.data(), second.size()}};
    std::string received(500'000, '\0');
    const auto [read, written] =
        run_both(reader.read(bytes(received)), writer.write(std::span<iovec>(vectors)));
    EXPECT_EQ(read, 500'000U);
    EXPECT_EQ(written, 500'000U);
    EXPECT_EQ(received, first + second);
}

TEST_P(StreamTest, AStoppedWriteTellsHowMuchWent) {
    auto [reader, writer] = make_pipe(loop());
    const std::string much(1'000'000, 'x');
    started writing(loop(), writer.write(bytes(much)));
    ASSERT_TRUE(until([&] { return bytes_waiting(reader.native_handle()) != 0; }));
    settle();
    writing.stop();
    ASSERT_TRUE(ends(writing));
    ASSERT_TRUE(writing.has_value());
    EXPECT_EQ(writing.value(), bytes_waiting(reader.native_handle()));
}

TEST_P(StreamTest, AWriteWhoseStreamIsClosedOnTheWayIsCanceled) {
    const std::string much(1'000'000, 'x');
    iovec vectors[] = {{const_cast<char*>(much.data()), much.size()}};
    for (const bool gather : {false, true}) {
        auto [reader, writer] = make_pipe(loop());
        const auto closed_during = [&](auto writing) {
            ASSERT_TRUE(until([&] { return bytes_waiting(reader.native_handle()) != 0; }));
            settle();
            run(writer.close());
            ASSERT_TRUE(ends(*writing));
            EXPECT_EQ(writing->error(), canceled) << gather;
        };
        if (gather) {
            using sender = decltype(writer.write(std::span<iovec>(vectors)));
            closed_during(
                std::make_unique<started<sender>>(loop(), writer.write(std::span<iovec>(vectors))));
        } else {
            using sender = decltype(writer.write(bytes(much)));
            closed_during(std::make_unique<started<sender>>(loop(), writer.write(bytes(much))));
        }
    }
}

EDDY_ON_EVERY_ENGINE(StreamTest);

}  // namespace
}  // namespace eddy::test::stream_test
