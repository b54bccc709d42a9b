// SPDX-License-Identifier: Apache-2.0
// Echo on asio with C++20 coroutines, tuned as the callbacks are: waits for readiness, tries the
// answer at once, and suspends for writing only when the peer is behind.

#include "echo/asio.hpp"

#include <utility>
#include <vector>

namespace {

using asio::awaitable;
constexpr asio::use_awaitable_t<bench::asio_executor> use_awaitable;

char buffer[bench::read_max];

awaitable<void, bench::asio_executor> write_rest(bench::asio_socket& socket, const char* data,
                                                 std::size_t size) {
    const std::vector<char> rest(data, data + size);
    co_await asio::async_write(socket, asio::buffer(rest), use_awaitable);
}

awaitable<void, bench::asio_executor> serve(bench::asio_socket socket) {
    socket.non_blocking(true);
    std::error_code error;
    for (;;) {
        co_await socket.async_wait(asio::socket_base::wait_read,
                                   asio::redirect_error(use_awaitable, error));
        if (error) co_return;
        const std::size_t n = socket.read_some(asio::buffer(buffer), error);
        if (error == asio::error::would_block) continue;
        if (error) co_return;
        const std::size_t sent = socket.write_some(asio::buffer(buffer, n), error);
        if (error && error != asio::error::would_block) co_return;
        if (sent != n) co_await write_rest(socket, buffer + sent, n - sent);
    }
}

awaitable<void, bench::asio_executor> accept(bench::asio_acceptor& acceptor) {
    for (;;) {
        auto socket = co_await acceptor.async_accept(use_awaitable);
        asio::co_spawn(acceptor.get_executor(), serve(std::move(socket)), asio::detached);
    }
}

}  // namespace

int main(int argc, char** argv) {
    asio::io_context context(ASIO_CONCURRENCY_HINT_UNSAFE);
    auto acceptor = bench::make_acceptor(context, bench::port_argument(argc, argv));
    asio::co_spawn(context.get_executor(), accept(acceptor), asio::detached);
    context.run();
}
