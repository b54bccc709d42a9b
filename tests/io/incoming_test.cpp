// SPDX-License-Identifier: Apache-2.0
#include "io/io_fixture.hpp"

#include <eddy/io/incoming.hpp>
#include <eddy/io/local/bound.hpp>
#include <eddy/io/tcp/acceptor.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace eddy::test::incoming_test {
namespace {

class IncomingTest : public IoTest {
protected:
    void SetUp() override {
        IoTest::SetUp();
        if (!IsSkipped()) {
            acceptor_ = tcp::acceptor(loop(), address::loopback_v4(0));
            EXPECT_FALSE(acceptor_.local_address(where_));
        }
    }
    void TearDown() override {
        acceptor_ = tcp::acceptor();
        IoTest::TearDown();
    }
    unique_fd client() const { return tcp_connect(where_.port()); }
    std::vector<unique_fd> clients(std::size_t count) const {
        std::vector<unique_fd> made;
        for (std::size_t i = 0; i != count; ++i) {
            made.push_back(client());
        }
        return made;
    }

    tcp::acceptor acceptor_;
    address where_;
};

TEST_P(IncomingTest, GivesEachConnectionOnceAndInOrder) {
    incoming<tcp::socket> connections(acceptor_, 4);
    for (int i = 0; i != 20; ++i) {
        const unique_fd peer = client();
        send_all(peer.get(), std::to_string(i % 10));
        tcp::socket server = run(connections.next());
        char digit[1];
        ASSERT_EQ(run(server.read(bytes(digit))), 1U);
        EXPECT_EQ(digit[0], '0' + i % 10);
    }
}

TEST_P(IncomingTest, SeveralCanWait) {
    incoming<tcp::socket> connections(acceptor_);
    started first(loop(), connections.next());
    started second(loop(), connections.next_fd());
    settle();
    const auto peers = clients(2);
    ASSERT_TRUE(ends(first));
    ASSERT_TRUE(ends(second));
    EXPECT_TRUE(first.value());
    EXPECT_TRUE(second.value());
}

TEST_P(IncomingTest, StopsAcceptingWhenItIsFullAndGoesOnWhenSomeAreTaken) {
    constexpr std::size_t capacity = 4;
    constexpr std::size_t count = 40;
    incoming<tcp::socket> connections(acceptor_, capacity);
    started first(loop(), connections.next());
    settle();
    std::vector<unique_fd> peers;
    for (std::size_t i = 0; i != count; ++i) {
        peers.push_back(client());
        settle();
    }
    ASSERT_TRUE(ends(first));
    turns_in(10ms);
    EXPECT_GE(connections.stored(), capacity);
    EXPECT_LT(connections.stored(), count / 2);
    EXPECT_TRUE(becomes_ready(acceptor_.native_handle(), 1 /* POLLIN */, 0))
        << "nobody waits in the backlog";
    for (std::size_t i = 1; i != count; ++i) {
        EXPECT_TRUE(run(connections.next()));
    }
    EXPECT_EQ(connections.stored(), 0U);
}

TEST_P(IncomingTest, DestroyingItClosesWhatIsStoredAndEndsWhoWaits) {
    const std::size_t before = open_fds();
    {
        std::optional<incoming<tcp::socket>> connections(std::in_place, acceptor_, 8);
        {
            const auto peers = clients(3);
            EXPECT_TRUE(run(connections->next()));
            turns_in(10ms);
            EXPECT_EQ(connections->stored(), 2U);
            connections.emplace(acceptor_, 8);
        }
        started waiting(loop(), connections->next());
        settle();
        connections.reset();
        ASSERT_TRUE(ends(waiting));
        EXPECT_EQ(waiting.error(), canceled);
    }
    settle();
    EXPECT_EQ(open_fds(), before);
}

TEST_P(IncomingTest, MayBeDestroyedByWhoWaited) {
    auto connections = std::make_unique<incoming<tcp::socket>>(acceptor_, 8);
    started waiting(loop(), connections->next() | ex::then([&](tcp::socket got) noexcept {
                                connections.reset();
                                return got;
                            }));
    settle();
    const auto peers = clients(3);
    ASSERT_TRUE(ends(waiting));
    EXPECT_TRUE(waiting.value());
    EXPECT_EQ(connections, nullptr);
    settle();
}

TEST_P(IncomingTest, AStoppedNextLosesNoConnection) {
    incoming<tcp::socket> connections(acceptor_);
    started waiting(loop(), connections.next());
    settle();
    waiting.stop();
    ASSERT_TRUE(ends(waiting));
    EXPECT_TRUE(waiting.stopped());
    const unique_fd peer = client();
    EXPECT_TRUE(run(connections.next()));
}

TEST_P(IncomingTest, ClosingTheAcceptorEndsItBehindWhatIsStored) {
    incoming<tcp::socket> connections(acceptor_);
    const auto peers = clients(3);
    EXPECT_TRUE(run(connections.next()));
    turns_in(10ms);
    EXPECT_EQ(connections.stored(), 2U);
    run(acceptor_.close());
    EXPECT_TRUE(run(connections.next()));
    EXPECT_TRUE(run(connections.next()));
    EXPECT_EQ(error_of(connections.next()), bad_fd);
}

TEST_P(IncomingTest, ClosingTheAcceptorEndsWhoWaits) {
    incoming<tcp::socket> connections(acceptor_);
    started waiting(loop(), connections.next());
    settle();
    run(acceptor_.close());
    ASSERT_TRUE(ends(waiting));
    EXPECT_EQ(waiting.error(), canceled);
}

/// Somebody who waits, told of below the sender, while the loop does not run.
struct told : detail::ahead_queue<detail::connections_ahead>::waiter {
    told() : waiter(&on_result) {}
    static bool on_result(waiter& w, unique_fd, io_result result, bool) noexcept {
        auto& self = static_cast<told&>(w);
        self.ended = true;
        self.error = result.error();
        return true;
    }
    bool ended = false;
    std::error_code error;
};

TEST_P(IncomingTest, ClosingTheAcceptorWhileItPausesEndsWhoWaits) {
    acceptor_ = tcp::acceptor();
    make_loop({.batch_max = 1});
    acceptor_ = tcp::acceptor(loop(), where_);
    auto queue = detail::ahead_queue<detail::connections_ahead>::make(
        loop(), accept_multishot(acceptor_.get_descriptor()), 2);
    told first;
    queue->take(first);
    const auto peers = clients(3);
    ASSERT_TRUE(until([&] { return queue->stored() == 2; }));
    // It is full, and the end of its accept is not delivered yet.
    told second;
    told third;
    told fourth;
    queue->take(second);
    queue->take(third);
    queue->take(fourth);
    EXPECT_TRUE(third.ended);
    EXPECT_FALSE(fourth.ended);
    acceptor_ = tcp::acceptor();
    ASSERT_TRUE(until([&] { return fourth.ended; }));
    EXPECT_EQ(fourth.error, canceled);
    queue.reset();
    settle();
}

TEST_P(IncomingTest, AnEmptyAcceptorAndAMovedOneFail) {
    incoming<tcp::socket> none{tcp::acceptor()};
    EXPECT_EQ(error_of(none.next()), bad_fd);
    incoming<tcp::socket> from(acceptor_);
    incoming<tcp::socket> to = std::move(from);
    EXPECT_EQ(error_of(from.next()), bad_fd);
    const unique_fd peer = client();
    EXPECT_TRUE(run(to.next()));
}

TEST_P(IncomingTest, ALoopThatDrainsStopsWhoWaits) {
    incoming<tcp::socket> connections(acceptor_);
    started waiting(loop(), connections.next());
    settle();
    loop().stop();
    loop().run(run_mode::drained);
    EXPECT_TRUE(waiting.stopped());
}

TEST_P(IncomingTest, WorksForLocalSocketsToo) {
    scratch_directory directory;
    const address at = address::from("unix:" + directory.path("s"));
    local::acceptor acceptor(loop(), at);
    incoming<local::stream> connections(acceptor);
    const auto [server, peer] = run_both(connections.next(), local::connect(loop(), at));
    EXPECT_TRUE(server);
}

EDDY_ON_EVERY_ENGINE(IncomingTest);

}  // namespace
}  // namespace eddy::test::incoming_test
