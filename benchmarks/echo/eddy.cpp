// SPDX-License-Identifier: Apache-2.0
// Echo on eddy's bare operations: a multishot receive on each connection, and a send of what it has
// brought. The loop lends the buffers while there is something in them.
// BENCH_RECEIVES=single: a receive after another, as senders and coroutines do it.

#include <cstdlib>
#include <vector>

#include "common/eddy_loop.hpp"
#include "echo/listener.hpp"

namespace {

const bool goes_on = std::getenv("BENCH_RECEIVES") == nullptr;

/// Deletes itself when its peer is gone and nothing is under way any more.
class connection {
public:
    connection(eddy::loop& loop, eddy::unique_fd socket)
        : loop_(loop), socket_(loop, std::move(socket), {.kind = eddy::descriptor_kind::tcp}) {
        receive();
    }

private:
    void receive() noexcept {
        loop_.start<&connection::receiving_, &connection::on_received>(
            *this, goes_on ? eddy::receive_multishot(socket_) : eddy::receive(socket_));
    }

    /// What it starts or cancels may complete inside this call: only the outermost one deletes.
    void on_received(eddy::io_result result) noexcept {
        ++depth_;
        if (result.count() == 0 || broken_) {
            over_ = !receiving_.more();  // the end, or an error
        } else {
            received_.push_back(loop_.take_lease(receiving_));
            if (received_.size() == 1) send(received_[0].data());
            over_ = broken_ && !receiving_.more();
            if (!broken_ && !receiving_.more()) receive();
        }
        --depth_;
        end_if_over();
    }

    void send(std::span<const std::byte> data) noexcept {
        rest_ = data;
        loop_.start<&connection::sending_, &connection::on_sent>(*this, eddy::send(socket_, data));
    }

    void on_sent(eddy::io_result result) noexcept {
        if (!result) {
            broken_ = true;
            if (!over_) loop_.cancel(receiving_);
        } else if (result.count() < rest_.size()) {
            return send(rest_.subspan(result.count()));
        } else if (++sent_ != received_.size()) {
            return send(received_[sent_].data());
        } else {
            received_.clear();
            sent_ = 0;
        }
        end_if_over();
    }

    void end_if_over() noexcept {
        if (over_ && depth_ == 0 && !sending_.pending()) delete this;
    }

    eddy::loop& loop_;
    eddy::descriptor socket_;
    eddy::io_operation receiving_;
    eddy::io_operation sending_;
    std::vector<eddy::lease> received_;
    std::size_t sent_ = 0;  // how many of them
    std::span<const std::byte> rest_;
    unsigned depth_ = 0;
    bool over_ = false;    // nothing more will be received
    bool broken_ = false;  // nothing more can be sent
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
