// Echo on eddy's senders, without a coroutine for the connections: for each, an operation state
// that lives as long as it does.

#include <eddy/async/repeat.hpp>
#include <eddy/ex/connect.hpp>
#include <eddy/ex/let_value.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/then.hpp>
#include <eddy/io/run.hpp>
#include <eddy/io/tcp/acceptor.hpp>

#include <array>

#include "common/eddy_loop.hpp"
#include "echo/listener.hpp"

namespace {

namespace ex = eddy::ex;

struct session {
    eddy::tcp::socket peer;
    std::array<std::byte, bench::read_max> buffer;
};

auto echo(session& s) noexcept {
    return eddy::repeat_until([&s]() noexcept {
        return s.peer.read_some(s.buffer) | ex::let_value([&s](std::size_t& count) noexcept {
                   return s.peer.write(std::span(s.buffer).first(count)) |
                          ex::then([&count](std::size_t) noexcept { return count == 0; });
               });
    });
}

/// Deletes itself when its peer is gone.
class connection {
public:
    explicit connection(eddy::tcp::socket peer)
        : session_{std::move(peer), {}}, operation_(ex::connect(echo(session_), end{this})) {
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

    session session_;
    ex::connect_result_t<decltype(echo(std::declval<session&>())), end> operation_;
};

}  // namespace

int main(int argc, char** argv) {
    const int port = bench::port_argument(argc, argv);
    bench::eddy_loop loop;
    eddy::tcp::acceptor acceptor(loop.get(), eddy::unique_fd(bench::listen_on(port)));
    loop->run(eddy::repeat([&] {
        return acceptor.accept() |
               ex::then([](eddy::tcp::socket peer) { new connection(std::move(peer)); });
    }));
}
