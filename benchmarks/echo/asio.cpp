// SPDX-License-Identifier: Apache-2.0
// Echo on asio with callbacks, tuned: no locks, no type erasure, the answer is tried at once, and
// one buffer serves all because only readiness is waited for.

#include "echo/asio.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace {

char buffer[bench::read_max];

class connection {
public:
    explicit connection(bench::asio_socket socket) : socket_(std::move(socket)) {
        socket_.non_blocking(true);
    }

    static void wait(std::unique_ptr<connection> self) {
        bench::asio_socket& socket = self->socket_;
        socket.async_wait(asio::socket_base::wait_read,
                          [self = std::move(self)](std::error_code error) mutable {
                              if (!error) echo(std::move(self));
                          });
    }

private:
    /// The connection ends when nothing holds `self` any more.
    static void echo(std::unique_ptr<connection> self) {
        std::error_code error;
        const std::size_t n = self->socket_.read_some(asio::buffer(buffer), error);
        if (error == asio::error::would_block) return wait(std::move(self));
        if (error) return;
        const std::size_t sent = self->socket_.write_some(asio::buffer(buffer, n), error);
        if (error && error != asio::error::would_block) return;
        if (sent == n) return wait(std::move(self));
        self->rest_.assign(buffer + sent, buffer + n);
        write_rest(std::move(self));
    }

    static void write_rest(std::unique_ptr<connection> self) {
        connection& c = *self;
        asio::async_write(c.socket_, asio::buffer(c.rest_),
                          [self = std::move(self)](std::error_code error, std::size_t) mutable {
                              if (!error) wait(std::move(self));
                          });
    }

    bench::asio_socket socket_;
    std::vector<char> rest_;
};

void accept(bench::asio_acceptor& acceptor) {
    acceptor.async_accept([&acceptor](std::error_code error, bench::asio_socket socket) {
        if (!error) connection::wait(std::make_unique<connection>(std::move(socket)));
        accept(acceptor);
    });
}

}  // namespace

int main(int argc, char** argv) {
    asio::io_context context(ASIO_CONCURRENCY_HINT_UNSAFE);
    auto acceptor = bench::make_acceptor(context, bench::port_argument(argc, argv));
    accept(acceptor);
    context.run();
}
