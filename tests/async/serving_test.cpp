// The servers of the README and the guide survive a lack of descriptors.
#include "async/task_fixture.hpp"
#include "kernel/call.hpp"
#include "support/heard_reports.hpp"
#include "support/no_more_fds.hpp"

#include <eddy/async/nursery.hpp>
#include <eddy/async/spawn.hpp>
#include <eddy/async/task.hpp>
#include <eddy/io/incoming.hpp>
#include <eddy/io/tcp/acceptor.hpp>

#include <cerrno>
#include <exception>
#include <utility>
#include <vector>

#include <poll.h>

namespace eddy::test::serving_test {
namespace {

task<> echo(tcp::socket peer) {
    while (const lease received = co_await peer.receive()) {
        co_await peer.write(received.data());
    }
}

task<> with_spawn(tcp::acceptor acceptor) {
    for (;;) {
        spawn(*loop::current(), echo(co_await acceptor.accept()));
    }
}

task<> with_a_nursery(tcp::acceptor acceptor) {
    co_await with_nursery([&](nursery& children) -> task<> {
        for (;;) {
            children.start(echo(co_await acceptor.accept()));
        }
    });
}

task<> ahead(tcp::acceptor acceptor) {
    incoming<tcp::socket> connections(acceptor, 8);
    for (;;) {
        spawn(*loop::current(), echo(co_await connections.next()));
    }
}

class Serving : public TaskTest {
protected:
    using server = task<> (*)(tcp::acceptor);
    static constexpr server servers[] = {&with_spawn, &with_a_nursery, &ahead};

    /// Starts it, and remembers if it ends with an exception.
    void serve(server body) {
        failure_ = nullptr;
        tcp::acceptor acceptor(loop(), address::loopback_v4(0));
        EXPECT_FALSE(acceptor.local_address(where_));
        spawn(loop(), body(std::move(acceptor)),
              [this](std::exception_ptr failure) { failure_ = std::move(failure); });
        settle();
    }
    unique_fd client() const { return tcp_connect(where_.port()); }
    bool answers(const unique_fd& peer) {
        test::send_all(peer.get(), "x");
        return until([&] { return bytes_waiting(peer.get()) == 1; }) &&
               recv_exactly(peer.get(), 1) == "x";
    }

    address where_;
    std::exception_ptr failure_;
    heard_reports reported_;
};
EDDY_ON_EVERY_ENGINE(Serving);

TEST_P(Serving, GoesOnAfterALackOfDescriptorsWithoutAnyHandlingOfErrors) {
    for (const server body : servers) {
        serve(body);
        std::vector<unique_fd> peers(1);
        peers[0] = client();
        ASSERT_TRUE(answers(peers[0]));
        while (peers.size() != 4) {
            peers.push_back(client());
        }
        {
            const no_more_fds limit;
            turns_in(70ms);
            EXPECT_TRUE(failure_ == nullptr);
        }
        for (const unique_fd& peer : peers) {
            EXPECT_TRUE(answers(peer));
        }
        peers.clear();
        end_loop();
    }
    // Accepting ahead, io_uring keeps to the limit of the time when it began.
    EXPECT_GE(reported_.with("Too many open files"), on(engine_kind::io_uring) ? 2U : 3U)
        << reported_.all();
}

/// On epoll a connection may fail to be attached.
using ServingOnEpoll = Serving;
INSTANTIATE_TEST_SUITE_P(Engine, ServingOnEpoll, ::testing::Values(engine_kind::epoll),
                         engine_name);

TEST_P(ServingOnEpoll, ClosesAConnectionThatCannotBeAttachedAndServesTheNext) {
    for (const server body : servers) {
        serve(body);
        unique_fd refused = client();
        kernel::fail(kernel::call::epoll_ctl, ENOMEM);
        ASSERT_TRUE(until([&] { return becomes_ready(refused.get(), POLLIN, 0); }));
        EXPECT_EQ(read_to_end(refused.get()), "");
        unique_fd peer = client();
        EXPECT_TRUE(answers(peer));
        EXPECT_TRUE(failure_ == nullptr);
        refused.reset();
        peer.reset();
        end_loop();
    }
    EXPECT_EQ(reported_.with("could not be attached"), 3U) << reported_.all();
}

}  // namespace
}  // namespace eddy::test::serving_test
