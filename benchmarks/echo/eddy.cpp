// Echo on eddy's bare operations: receive and send, one of them under way on each connection. The
// loop lends the buffer while there is something in it.

#include "common/eddy_loop.hpp"
#include "echo/listener.hpp"

namespace {

/// Deletes itself when its peer is gone.
class connection {
public:
    connection(eddy::loop& loop, eddy::unique_fd socket)
        : loop_(loop), socket_(loop, std::move(socket), {.kind = eddy::descriptor_kind::tcp}) {
        receive();
    }

private:
    void receive() noexcept {
        loop_.start<&connection::io_, &connection::on_received>(*this, eddy::receive(socket_));
    }

    void on_received(eddy::io_result result) noexcept {
        if (result.count() == 0) {  // the end, or an error
            delete this;
        } else {
            received_ = loop_.take_lease(io_);
            send(received_.data());
        }
    }

    void send(std::span<const std::byte> data) noexcept {
        rest_ = data;
        loop_.start<&connection::io_, &connection::on_sent>(*this, eddy::send(socket_, data));
    }

    void on_sent(eddy::io_result result) noexcept {
        if (!result) {
            delete this;
        } else if (result.count() < rest_.size()) {
            send(rest_.subspan(result.count()));
        } else {
            received_.reset();
            receive();
        }
    }

    eddy::loop& loop_;
    eddy::descriptor socket_;
    eddy::io_operation io_;
    eddy::lease received_;
    std::span<const std::byte> rest_;
};

class server {
public:
    server(eddy::loop& loop, int listener)
        : loop_(loop), listener_(loop, eddy::unique_fd(listener), {.name = "listener"}) {
        loop_.start<&server::io_, &server::on_accepted>(*this, eddy::accept_multishot(listener_));
    }

private:
    void on_accepted(eddy::io_result result) noexcept {
        if (result) new connection(loop_, eddy::unique_fd(result.fd()));
    }

    eddy::loop& loop_;
    eddy::descriptor listener_;
    eddy::io_operation io_;
};

}  // namespace

int main(int argc, char** argv) {
    const int port = bench::port_argument(argc, argv);
    bench::eddy_loop loop({.lease_size = bench::read_max});
    server s(loop.get(), bench::listen_on(port));
    loop->run();
}
