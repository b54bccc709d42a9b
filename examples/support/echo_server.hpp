#pragma once

#include "support/listen.hpp"

#include <eddy/eddy.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <utility>

namespace example {

/// One connection of the echo server. It deletes itself when its peer is gone.
class echo_session {
public:
    static void start(eddy::loop& loop, eddy::unique_fd fd, std::uint64_t& requests) {
        eddy::descriptor socket;
        const eddy::descriptor_options options{.kind = eddy::descriptor_kind::tcp, .name = "peer"};
        if (auto error = eddy::descriptor::attach(loop, fd, socket, options)) {
            std::fprintf(stderr, "attach: %s\n", error.message().c_str());
            return;
        }
        (new echo_session(loop, std::move(socket), requests))->read();
    }

private:
    echo_session(eddy::loop& loop, eddy::descriptor socket, std::uint64_t& requests)
        : loop_(loop), socket_(std::move(socket)), requests_(requests) {}

    void read() noexcept {
        loop_.start<&echo_session::io_, &echo_session::on_read>(*this, eddy::recv(socket_, data_));
    }
    void on_read(eddy::io_result result) noexcept {
        if (result.count() == 0) {  // the end of the stream, or an error
            delete this;
            return;
        }
        ++requests_;
        const auto answer = std::span(data_).first(result.count());
        loop_.start<&echo_session::io_, &echo_session::on_sent>(*this,
                                                                eddy::send_all(socket_, answer));
    }
    void on_sent(eddy::io_result result) noexcept {
        if (result) {
            read();
        } else {
            delete this;
        }
    }

    eddy::loop& loop_;
    eddy::descriptor socket_;
    std::uint64_t& requests_;
    eddy::io_operation io_;
    std::array<std::byte, 16384> data_;
};

/// Accepts connections until its loop stops.
class echo_server {
public:
    echo_server(eddy::loop& loop, eddy::unique_fd listener)
        : loop_(loop), listener_(loop, std::move(listener), {.name = "listener"}) {
        loop_.start<&echo_server::io_, &echo_server::on_accept>(*this,
                                                                eddy::accept_multishot(listener_));
    }

    std::uint64_t requests() const noexcept { return requests_; }

private:
    void on_accept(eddy::io_result result) noexcept {
        if (result) {
            set_nodelay(result.fd());
            echo_session::start(loop_, eddy::unique_fd(result.fd()), requests_);
        } else if (result.error() != std::errc::operation_canceled) {
            std::fprintf(stderr, "accept: %s\n", result.error().message().c_str());
        }
    }

    eddy::loop& loop_;
    eddy::descriptor listener_;
    eddy::io_operation io_;
    std::uint64_t requests_ = 0;
};

}  // namespace example
