// SPDX-License-Identifier: Apache-2.0
// The servers of the README and the guide survive a lack of descriptors, cost nothing while it
// lasts, and end when their listener fails for good.
#include "async/task_fixture.hpp"
#include "kernel/call.hpp"
#include "support/heard_reports.hpp"
#include "support/no_more_fds.hpp"
#include "support/processor_time.hpp"

#include <eddy/async/as_result.hpp>
#include <eddy/async/nursery.hpp>
#include <eddy/async/serve_each.hpp>
#include <eddy/async/spawn.hpp>
#include <eddy/async/task.hpp>
#include <eddy/io/incoming.hpp>
#include <eddy/io/tcp/acceptor.hpp>

#include <cerrno>
#include <exception>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/socket.h>

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

task<> each(tcp::acceptor acceptor) { co_await serve_each(std::move(acceptor), echo); }

/// Goes on after every error, without a pause of its own.
task<> with_every_error(tcp::acceptor acceptor) {
    for (;;) {
        const auto one = co_await as_result(acceptor.accept(accept_errors::every));
        EXPECT_TRUE(one || one.error() == std::errc::too_many_files_open) << one.error();
    }
}

task<> ahead_with_every_error(tcp::acceptor acceptor) {
    incoming<tcp::socket> connections(acceptor, 8, accept_errors::every);
    for (;;) {
        const auto one = co_await as_result(connections.next());
        EXPECT_TRUE(one || one.error() == std::errc::too_many_files_open) << one.error();
    }
}

class Serving : public TaskTest {
protected:
    using server = task<> (*)(tcp::acceptor);
    static constexpr server servers[] = {&with_spawn, &with_a_nursery, &ahead, &each};

    /// Starts it, and remembers if it ends with an exception.
    void serve(server body) {
        failure_ = nullptr;
        tcp::acceptor acceptor(loop(), address::loopback_v4(0));
        EXPECT_FALSE(acceptor.local_address(where_));
        listening_ = acceptor.native_handle();
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
    int listening_ = -1;
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
    const std::size_t silent = on(engine_kind::io_uring) ? 1 : 0;
    EXPECT_GE(reported_.with("Too many open files"), std::size(servers) - silent)
        << reported_.all();
}

/// The peer is there before the server, so that the listener is ready all the time. Each server
/// runs once with descriptors before, so that nothing but it wants one during the lack.
TEST_P(Serving, UsesNoProcessorWhileALackOfDescriptorsLasts) {
    for (const server body : {&with_spawn, &with_a_nursery, &ahead, &each, &with_every_error,
                              &ahead_with_every_error}) {
        for (const bool lack : {false, true}) {
            tcp::acceptor acceptor(loop(), address::loopback_v4(0));
            ASSERT_FALSE(acceptor.local_address(where_));
            const unique_fd peer = client();
            turns_in(1ms);
            if (lack) {
                const no_more_fds limit;
                spawn(loop(), body(std::move(acceptor)));
                const duration before = processor_time();
                EXPECT_LE(turns_in(300ms), 40U);
                EXPECT_LT(processor_time() - before, 3ms) << "more than 1 % of the processor";
            } else {
                spawn(loop(), body(std::move(acceptor)));
                settle();
            }
            end_loop();
        }
    }
}

TEST_P(Serving, EndsWhenTheListenerFailsForGood) {
    for (const server body : servers) {
        serve(body);
        const unique_fd peer = client();
        ASSERT_TRUE(answers(peer));
        ASSERT_EQ(::shutdown(listening_, SHUT_RDWR), 0);
        ASSERT_TRUE(until([&] { return failure_ != nullptr; }));
        try {
            std::rethrow_exception(std::exchange(failure_, nullptr));
        } catch (const std::system_error& e) {
            EXPECT_EQ(e.code(), std::errc::invalid_argument);
        }
        end_loop();
    }
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
    EXPECT_EQ(reported_.with("could not be attached"), std::size(servers)) << reported_.all();
}

}  // namespace
}  // namespace eddy::test::serving_test
