// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/listen.hpp"

#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/requests.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <new>
#include <span>
#include <system_error>
#include <utility>

namespace example {

/// Prints an error, or just its number if there is no memory for its words.
inline void report(const char* what, std::error_code error) noexcept try {
    std::fprintf(stderr, "%s: %s\n", what, error.message().c_str());
} catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s: error %d\n", what, error.value());
}

/// One connection of the echo server. It deletes itself when its peer is gone.
class echo_session {
public:
    /// Serves the connection, or closes it if there is no memory.
    static void start(eddy::loop& loop, eddy::unique_fd fd, std::uint64_t& requests) noexcept {
        eddy::descriptor socket;
        const eddy::descriptor_options options{.kind = eddy::descriptor_kind::tcp, .name = "peer"};
        if (auto error = eddy::descriptor::attach(loop, fd, socket, options)) {
            report("attach", error);
        } else if (auto* const made =
                       new (std::nothrow) echo_session(loop, std::move(socket), requests)) {
            made->read();
        } else {
            report("a connection is closed", std::make_error_code(std::errc::not_enough_memory));
        }
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
    /// True if the listener has failed for good, which stops the loop.
    bool failed() const noexcept { return failed_; }

private:
    void on_accept(eddy::io_result result) noexcept {
        if (result) {
            echo_session::start(loop_, eddy::unique_fd(result.fd()), requests_);
        } else if (result.error() != std::errc::operation_canceled) {
            // Temporary errors do not come here: this listener will never accept again.
            report("accept", result.error());
            failed_ = true;
            loop_.stop();
        }
    }

    eddy::loop& loop_;
    eddy::descriptor listener_;
    eddy::io_operation io_;
    std::uint64_t requests_ = 0;
    bool failed_ = false;
};

}  // namespace example
