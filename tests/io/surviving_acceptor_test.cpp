// SPDX-License-Identifier: Apache-2.0
// Acceptors survive errors that pass.
#include "io/io_fixture.hpp"
#include "kernel/call.hpp"
#include "support/heard_reports.hpp"
#include "support/no_more_fds.hpp"

#include <eddy/io/incoming.hpp>
#include <eddy/io/local/bound.hpp>
#include <eddy/io/tcp/acceptor.hpp>

#include <cerrno>
#include <utility>
#include <vector>

namespace eddy::test::surviving_acceptor_test {
namespace {

class SurvivingAcceptor : public IoTest {
protected:
    void SetUp() override {
        IoTest::SetUp();
        // UBSan opens a pipe when it first meets the type of an object: before fds run out.
        const auto error = std::make_error_code(std::errc::io_error);
        EXPECT_EQ(error_of(ex::just_error(error)), error);
        if (!IsSkipped()) {
            acceptor_ = tcp::acceptor(loop(), address::loopback_v4(0));
            EXPECT_FALSE(acceptor_.local_address(where_));
            turns_in(1ms);
        }
    }
    void TearDown() override {
        acceptor_ = tcp::acceptor();
        IoTest::TearDown();
    }
    unique_fd client() const { return tcp_connect(where_.port()); }

    /// The sender waits while there are no descriptors, and has a value when there are.
    template <class Sender>
    auto expect_survival(Sender sender) {
        started accepting(loop(), std::move(sender));
        {
            const no_more_fds limit;
            turns_in(120ms);
            EXPECT_FALSE(accepting.ended()) << accepting.error().message();
        }
        EXPECT_TRUE(ends(accepting));
        EXPECT_TRUE(accepting.has_value()) << accepting.error().message();
        return std::move(accepting.value());
    }

    tcp::acceptor acceptor_;
    address where_;
    heard_reports reported_;
};
EDDY_ON_EVERY_ENGINE(SurvivingAcceptor);

TEST_P(SurvivingAcceptor, WaitsUntilThereAreDescriptors) {
    const unique_fd one = client();
    const tcp::socket peer = expect_survival(acceptor_.accept());
    const unique_fd two = client();
    const unique_fd fd = expect_survival(acceptor_.accept_fd());
    EXPECT_EQ(reported_.with("Too many open files"), 2U) << reported_.all();
}

TEST_P(SurvivingAcceptor, WaitsUntilThereAreDescriptorsAlsoAhead) {
    incoming<tcp::socket> connections(acceptor_);
    const unique_fd one = client();
    const tcp::socket peer = expect_survival(connections.next());
    const unique_fd two = client();
    const tcp::socket next = run(connections.next());
}

TEST_P(SurvivingAcceptor, OfUnixSocketsWaitsToo) {
    const local::acceptor acceptor(loop(), address::from("unix:@eddy-surviving-acceptor"));
    started connecting(loop(),
                       local::connect(loop(), address::from("unix:@eddy-surviving-acceptor")));
    ASSERT_TRUE(ends(connecting));
    const local::stream peer = expect_survival(acceptor.accept());
}

TEST_P(SurvivingAcceptor, CanBeStoppedWhileItWaits) {
    const unique_fd one = client();
    const no_more_fds limit;
    started accepting(loop(), acceptor_.accept());
    turns_in(1ms);
    accepting.stop();
    ASSERT_TRUE(ends(accepting));
    EXPECT_TRUE(accepting.stopped());
}

TEST_P(SurvivingAcceptor, TellsOfEveryErrorIfAsked) {
    const unique_fd one = client();
    {
        const no_more_fds limit;
        EXPECT_EQ(error_of(acceptor_.accept(accept_errors::every)), std::errc::too_many_files_open);
        EXPECT_EQ(error_of(acceptor_.accept_fd(accept_errors::every)),
                  std::errc::too_many_files_open);
    }
    const tcp::socket peer = run(acceptor_.accept(accept_errors::every));
    const unique_fd two = client();
    incoming<tcp::socket> connections(acceptor_, 4, accept_errors::every);
    {
        const no_more_fds limit;
        EXPECT_EQ(error_of(connections.next()), std::errc::too_many_files_open);
    }
    const tcp::socket next = run(connections.next());
    EXPECT_EQ(reported_.all(), "");
}

TEST_P(SurvivingAcceptor, ThrowsWhenTheListenerFailsForGood) {
    ASSERT_EQ(::shutdown(acceptor_.native_handle(), SHUT_RDWR), 0);
    EXPECT_EQ(error_of(acceptor_.accept()), std::errc::invalid_argument);
    incoming<tcp::socket> connections(acceptor_);
    EXPECT_EQ(error_of(connections.next()), std::errc::invalid_argument);
}

/// On epoll a connection may fail to be attached.
using SurvivingAttach = SurvivingAcceptor;
INSTANTIATE_TEST_SUITE_P(Engine, SurvivingAttach, ::testing::Values(engine_kind::epoll),
                         engine_name);

TEST_P(SurvivingAttach, ClosesAConnectionThatCannotBeAttachedAndTakesTheNext) {
    incoming<tcp::socket> connections(acceptor_);
    for (const bool ahead : {false, true}) {
        const unique_fd one = client();
        const unique_fd two = client();
        if (ahead) {  // both are here, accepted
            started first(loop(), connections.next());
            ASSERT_TRUE(until([&] { return connections.stored() == 1; }));
            const unique_fd three = client();
            ASSERT_TRUE(until([&] { return connections.stored() == 2; }));
            kernel::fail(kernel::call::epoll_ctl, ENOSPC);
            const tcp::socket third = run(connections.next());
            EXPECT_EQ(read_to_end(two.get()), "");
            send_all(three.get(), "x");
            EXPECT_EQ(recv_exactly(third.native_handle(), 1), "x");
        } else {
            kernel::fail(kernel::call::epoll_ctl, ENOSPC);
            const tcp::socket second = run(acceptor_.accept());
            EXPECT_EQ(read_to_end(one.get()), "");
            send_all(two.get(), "x");
            EXPECT_EQ(recv_exactly(second.native_handle(), 1), "x");
        }
    }
    EXPECT_EQ(reported_.with("could not be attached"), 2U) << reported_.all();
}

TEST_P(SurvivingAttach, TellsOfAConnectionThatCannotBeAttachedIfAskedForEveryError) {
    const unique_fd one = client();
    kernel::fail(kernel::call::epoll_ctl, ENOSPC);
    EXPECT_EQ(error_of(acceptor_.accept(accept_errors::every)), std::errc::no_space_on_device);
}

TEST_P(SurvivingAttach, GoesOnAlsoWhenItsSenderIsConnectedTwice) {
    const auto accepting = acceptor_.accept();
    const unique_fd one = client();
    const tcp::socket first = run(accepting);
    const unique_fd two = client();
    const tcp::socket second = run(accepting);
    EXPECT_NE(first.native_handle(), second.native_handle());
}

}  // namespace
}  // namespace eddy::test::surviving_acceptor_test
