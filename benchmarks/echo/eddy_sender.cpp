// SPDX-License-Identifier: Apache-2.0
// Echo on eddy's senders, without a coroutine for the connections: for each, an operation state
// that lives as long as it does.

#include <eddy/async/repeat.hpp>
#include <eddy/ex/connect.hpp>
#include <eddy/ex/let_value.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/then.hpp>
#include <eddy/io/run.hpp>
#include <eddy/io/tcp/acceptor.hpp>

#include "common/eddy_loop.hpp"
#include "echo/listener.hpp"

namespace {

namespace ex = eddy::ex;

auto echo(const eddy::tcp::socket& peer) noexcept {
    return eddy::repeat_until([&peer]() noexcept {
        return peer.receive() | ex::let_value([&peer](const eddy::lease& received) noexcept {
                   return peer.write(received.data()) |
                          ex::then([](std::size_t count) noexcept { return count == 0; });
               });
    });
}

/// Deletes itself when its peer is gone.
class connection {
public:
    explicit connection(eddy::tcp::socket peer)
        : peer_(std::move(peer)), operation_(ex::connect(echo(peer_), end{this})) {
        ex::start(operation_);
    }

private:
    struct end {
        using receiver_concept = ex::receiver_tag;
        connection* self;
        void set_value() noexcept { delete self; }
        template <class Error>
        void set_error(Error&&) noexcept {
            delete self;
        }
        void set_stopped() noexcept { delete self; }
    };

    eddy::tcp::socket peer_;
    ex::connect_result_t<decltype(echo(std::declval<eddy::tcp::socket&>())), end> operation_;
};

}  // namespace

int main(int argc, char** argv) {
    const int port = bench::port_argument(argc, argv);
    bench::eddy_loop loop({.lease_size = bench::read_max});
    eddy::tcp::acceptor acceptor(loop.get(), eddy::unique_fd(bench::listen_on(port)));
    loop->run(eddy::repeat([&] {
        return acceptor.accept() |
               ex::then([](eddy::tcp::socket peer) { new connection(std::move(peer)); });
    }));
}
