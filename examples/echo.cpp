/// The plainest echo server on bare operations:  echo PORT
/// The engine is chosen by EDDY_ENGINE (epoll, io_uring, poll, best).
#include "support/listen.hpp"

#include <eddy/eddy.hpp>

#include <array>
#include <cstdio>
#include <exception>

namespace {

/// One connection. It deletes itself when its peer is gone.
class session {
public:
    session(eddy::loop& loop, eddy::unique_fd socket)
        : loop_(loop), socket_(loop, std::move(socket), {.kind = eddy::descriptor_kind::tcp}) {
        read();
    }

private:
    void read() noexcept {
        loop_.start<&session::io_, &session::on_read>(*this, eddy::recv(socket_, buffer_));
    }
    void on_read(eddy::io_result result) noexcept {
        if (result.count() == 0) {  // end of stream, or an error
            delete this;
            return;
        }
        write(std::span(buffer_).first(result.count()));
    }
    void write(std::span<std::byte> data) noexcept {
        rest_ = data;
        loop_.start<&session::io_, &session::on_written>(*this, eddy::send(socket_, rest_));
    }
    void on_written(eddy::io_result result) noexcept {
        if (!result) {
            delete this;
        } else if (result.count() < rest_.size()) {
            write(rest_.subspan(result.count()));
        } else {
            read();
        }
    }

    eddy::loop& loop_;
    eddy::descriptor socket_;
    eddy::io_operation io_;
    std::span<std::byte> rest_;
    std::array<std::byte, 16384> buffer_;
};

class server {
public:
    server(eddy::loop& loop, eddy::unique_fd listener)
        : loop_(loop), listener_(loop, std::move(listener), {.name = "listener"}) {
        loop_.start<&server::io_, &server::on_accept>(*this, eddy::accept_multishot(listener_));
    }

private:
    void on_accept(eddy::io_result result) noexcept {
        if (result) {
            example::set_nodelay(result.fd());
            new session(loop_, eddy::unique_fd(result.fd()));
        } else {
            std::fprintf(stderr, "accept: %s\n", result.error().message().c_str());
        }
    }

    eddy::loop& loop_;
    eddy::descriptor listener_;
    eddy::io_operation io_;
};

}  // namespace

int main(int argc, char** argv) try {
    eddy::loop loop;
    server s(loop, example::listen_on(example::port_argument(argc, argv)));
    std::printf("echo on the engine %s\n", eddy::to_string(loop.engine()));
    std::fflush(stdout);
    loop.run();
} catch (const std::exception& e) {
    std::fprintf(stderr, "echo: %s\n", e.what());
    return 1;
}
