// SPDX-License-Identifier: Apache-2.0
#include "io/io_fixture.hpp"

#include <eddy/io/local/socket.hpp>
#include <eddy/io/pipe.hpp>
#include <eddy/io/tcp/acceptor.hpp>

#include <thread>
#include <vector>

namespace eddy::test::receive_test {
namespace {

class IoReceiveTest : public IoTest {};

TEST_P(IoReceiveTest, BringsTheDataInALentBuffer) {
    auto [a, b] = local::make_pair(loop());
    started receiving(loop(), a.receive());
    settle();
    EXPECT_FALSE(receiving.ended());
    run(b.write(bytes("lent")));
    ASSERT_TRUE(ends(receiving));
    EXPECT_EQ(as_text(receiving.value().data()), "lent");
}

TEST_P(IoReceiveTest, WorksForPipes) {
    auto [reader, writer] = make_pipe(loop());
    run(writer.write(bytes("piped")));
    EXPECT_EQ(as_text(run(reader.receive()).data()), "piped");
}

TEST_P(IoReceiveTest, IsEmptyAtTheEnd) {
    auto [a, b] = local::make_pair(loop());
    run(b.close());
    EXPECT_TRUE(run(a.receive()).empty());
}

TEST_P(IoReceiveTest, WaitsWhileAllBuffersAreLent) {
    make_loop({.lease_size = 64, .lease_count = 2, .lease_max = 2});
    auto [a, b] = local::make_pair(loop());
    const std::string data(192, 'x');
    run(b.write(bytes(data)));
    std::vector<lease> held;
    held.push_back(run(a.receive()));
    held.push_back(run(a.receive()));
    started third(loop(), a.receive());
    settle();
    EXPECT_FALSE(third.ended());
    held.pop_back();
    ASSERT_TRUE(ends(third));
    EXPECT_GT(third.value().size(), 0U);
}

TEST_P(IoReceiveTest, ALeaseMayBeGivenBackOnAnotherThread) {
    make_loop({.lease_size = 64, .lease_count = 1, .lease_max = 1});
    auto [a, b] = local::make_pair(loop());
    for (int i = 0; i != 100; ++i) {
        run(b.write(bytes("again")));
        lease lent = run(a.receive());
        ASSERT_EQ(as_text(lent.data()), "again");
        std::thread elsewhere([given = std::move(lent)]() mutable { given.reset(); });
        elsewhere.join();
    }
}

TEST_P(IoReceiveTest, AStopLosesNoByte) {
    auto [a, b] = local::make_pair(loop());
    started receiving(loop(), a.receive());
    settle();
    receiving.stop();
    ASSERT_TRUE(ends(receiving));
    EXPECT_TRUE(receiving.stopped());
    run(b.write(bytes("kept")));
    EXPECT_EQ(as_text(run(a.receive()).data()), "kept");
}

TEST_P(IoReceiveTest, ClosingIsCanceledAndAnEmptyHandleBad) {
    auto [a, b] = local::make_pair(loop());
    started receiving(loop(), a.receive());
    settle();
    run(a.close());
    ASSERT_TRUE(ends(receiving));
    EXPECT_EQ(receiving.error(), canceled);
    EXPECT_EQ(error_of(a.receive()), bad_fd);
}

TEST_P(IoReceiveTest, APeerThatResetsIsAnError) {
    fd_pair pair = tcp_pair();
    tcp::socket socket(loop(), std::move(pair.first));
    reset_on_close(pair.second.get());
    pair.second.reset();
    EXPECT_EQ(error_of(socket.receive()), std::errc::connection_reset);
}

EDDY_ON_EVERY_ENGINE(IoReceiveTest);

}  // namespace
}  // namespace eddy::test::receive_test
