// SPDX-License-Identifier: Apache-2.0
#include "io/io_fixture.hpp"

#include <eddy/io/tcp/acceptor.hpp>
#include <eddy/io/tcp/connect_any.hpp>

#include <vector>

namespace eddy::test::connect_any_test {
namespace {

/// A listener whose backlog is full: it neither takes nor refuses a connection.
class silent_listener {
public:
    silent_listener() : listener_(0) {
        for (int i = 0; i != 4; ++i) {
            fill_.push_back(tcp_socket());
            set_nonblocking(fill_.back().get(), true);
            static_cast<void>(
                ::connect(fill_.back().get(), where().native(), where().native_length()));
        }
    }
    address where() const { return address::loopback_v4(listener_.port()); }

private:
    tcp_listener listener_;
    std::vector<unique_fd> fill_;
};

class ConnectAnyTest : public IoTest {
protected:
    /// Nobody listens there.
    address refusing() {
        tcp_listener gone;
        return address::loopback_v4(gone.port());
    }
    auto connect_any(std::vector<address> to, duration delay = 250ms) {
        return tcp::connect_any(loop(), to, delay);
    }
    static address peer_of(const tcp::socket& socket) {
        address peer;
        EXPECT_FALSE(socket.peer_address(peer));
        return peer;
    }

    tcp_listener listener_;
    const address good_ = address::loopback_v4(listener_.port());
};

TEST(TakeTurnsTest, FamiliesAlternateAndKeepTheirOrder) {
    const auto a = [](int n) { return address::loopback_v4(static_cast<std::uint16_t>(n)); };
    const auto b = [](int n) { return address::loopback_v6(static_cast<std::uint16_t>(n)); };
    using list = std::vector<address>;
    EXPECT_EQ(detail::take_turns(list{}), list{});
    EXPECT_EQ(detail::take_turns(list{b(1), b(2), b(3), a(4), a(5)}),
              (list{b(1), a(4), b(2), a(5), b(3)}));
    EXPECT_EQ(detail::take_turns(list{a(1), b(2), b(3), b(4)}), (list{a(1), b(2), b(3), b(4)}));
    EXPECT_EQ(detail::take_turns(list{a(1), a(2)}), (list{a(1), a(2)}));
}

TEST_P(ConnectAnyTest, OneAddressIsEnough) {
    const tcp::socket made = run(connect_any({good_}));
    EXPECT_EQ(peer_of(made), good_);
}

TEST_P(ConnectAnyTest, AFailureBringsTheNextAtOnce) {
    const time_point before = clock::now();
    const tcp::socket made =
        run(connect_any({refusing(), address(), address::from("unix:@x"), good_}, 1h));
    EXPECT_EQ(peer_of(made), good_);
    EXPECT_LT(clock::now() - before, 10s);
}

TEST_P(ConnectAnyTest, SilenceBringsTheNextAfterTheDelayAndIsCancelled) {
    const silent_listener silent;
    static_cast<void>(loop());
    const std::size_t before = open_fds();
    const time_point begin = clock::now();
    {
        const tcp::socket made = run(connect_any({silent.where(), silent.where(), good_}, 20ms));
        EXPECT_EQ(peer_of(made), good_);
        EXPECT_GE(clock::now() - begin, 40ms);
        settle();
        EXPECT_EQ(open_fds(), before + 1) << "the losers are still open";
    }
    settle();
}

TEST_P(ConnectAnyTest, TheLastErrorThatTellsSomethingIsReported) {
    EXPECT_EQ(error_of(connect_any({refusing(), refusing()})), std::errc::connection_refused);
    EXPECT_EQ(error_of(connect_any({refusing(), address()})), std::errc::connection_refused);
    EXPECT_EQ(error_of(connect_any({address(), refusing()})), std::errc::connection_refused);
    EXPECT_EQ(error_of(connect_any({address()})), std::errc::address_family_not_supported);
}

TEST_P(ConnectAnyTest, NoAddressIsInvalid) {
    EXPECT_EQ(error_of(connect_any({})), std::errc::invalid_argument);
}

TEST_P(ConnectAnyTest, AStopEndsAllAttempts) {
    const silent_listener silent;
    static_cast<void>(loop());
    const std::size_t before = open_fds();
    started racing(loop(), connect_any({silent.where(), silent.where(), silent.where()}, 1ms));
    ASSERT_TRUE(until([&] { return open_fds() == before + 3; }));
    racing.stop();
    ASSERT_TRUE(ends(racing));
    EXPECT_TRUE(racing.stopped());
    settle();
    EXPECT_EQ(open_fds(), before);
}

TEST_P(ConnectAnyTest, MayBeDestroyedWhilePending) {
    const silent_listener silent;
    {
        started racing(loop(), connect_any({silent.where(), silent.where()}, 1h));
        settle();
        EXPECT_FALSE(racing.ended());
    }
    settle();
}

TEST_P(ConnectAnyTest, CanBeMadeManyTimes) {
    const auto connecting = connect_any({refusing(), good_});
    EXPECT_TRUE(run(connecting));
    EXPECT_TRUE(run(connecting));
}

EDDY_ON_EVERY_ENGINE(ConnectAnyTest);

}  // namespace
}  // namespace eddy::test::connect_any_test
