// SPDX-License-Identifier: Apache-2.0

// Sends the load of the demonstration, and measures the latency of the replies.
#include "demo/client.hpp"

#include <algorithm>
#include <array>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace demo {

using namespace std::chrono_literals;

namespace {

/// Time limit for each batch of connections.
constexpr auto patience = 30s;

}  // namespace

class client::connection {
public:
    connection(client& owner, eddy::unique_fd fd)
        : owner_(owner), socket_(owner.loop_, std::move(fd), {.name = "client"}) {}
    /// Abandons a pending operation, so that nobody must wait for it on a slow machine.
    ~connection() {
        if (io_.pending()) {
            owner_.loop_.abandon(io_);
        }
    }
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    void connect(const sockaddr_in& address) noexcept {
        const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
        owner_.loop_.start<&connection::io_, &connection::on_connected>(
            *this, eddy::connect(socket_, generic, sizeof address));
    }
    void send() noexcept {
        sent_at_ = eddy::clock::now();
        owner_.loop_.start<&connection::io_, &connection::on_sent>(*this,
                                                                   eddy::send(socket_, message_));
    }
    bool idle() const noexcept { return !io_.pending(); }

private:
    void on_connected(eddy::io_result result) noexcept {
        if (!result) {
            fail(result.error());
            return;
        }
        ++owner_.connected_;
    }
    void on_sent(eddy::io_result result) noexcept {
        if (result.count() != message_.size()) {
            fail(result.error());
            return;
        }
        received_ = 0;
        receive();
    }
    void receive() noexcept {
        const auto rest = std::span(message_).subspan(received_);
        owner_.loop_.start<&connection::io_, &connection::on_received>(*this,
                                                                       eddy::recv(socket_, rest));
    }
    void on_received(eddy::io_result result) noexcept {
        if (result.count() == 0) {
            fail(result ? std::make_error_code(std::errc::connection_reset) : result.error());
            return;
        }
        received_ += result.count();
        if (received_ < message_.size()) {
            receive();
            return;
        }
        const auto latency = eddy::clock::now() - sent_at_;
        owner_.latencies_ns_.push_back(
            static_cast<std::uint32_t>(std::min<std::int64_t>(latency.count(), UINT32_MAX)));
        if (owner_.sending_) {
            send();
        }
    }
    void fail(std::error_code error) noexcept {
        if (error != std::errc::operation_canceled) {
            owner_.failure_ = error;
            owner_.loop_.stop();
        }
    }

    client& owner_;
    eddy::descriptor socket_;
    eddy::io_operation io_;
    eddy::time_point sent_at_;
    std::size_t received_ = 0;
    std::array<std::byte, 64> message_{};
};

client::client(int port, std::size_t connections)
    : loop_({.engine = eddy::engine_kind::epoll, .name = "client"}),
      port_(port),
      wanted_(connections) {
    latencies_ns_.reserve(4'000'000);
}

client::~client() = default;

void client::connect(eddy::function_ref<void()> progress) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    while (connections_.size() != wanted_) {
        eddy::unique_fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (!fd) {
            throw std::system_error(errno, std::system_category(), "socket");
        }
        connections_.push_back(std::make_unique<connection>(*this, std::move(fd)));
        connections_.back()->connect(address);
        if (connections_.size() % 50 == 0) {
            loop_.run(eddy::run_mode::empty, {.until = eddy::clock::now() + patience});
            progress();
        }
    }
    loop_.run(eddy::run_mode::empty, {.until = eddy::clock::now() + patience});
    if (failure_ || connected_ != wanted_) {
        throw std::system_error(failure_ ? failure_ : std::make_error_code(std::errc::timed_out),
                                "cannot connect");
    }
}

void client::run(std::chrono::duration<double> time, eddy::function_ref<void()> progress) {
    const auto begin = eddy::clock::now();
    const auto end = begin + std::chrono::duration_cast<eddy::duration>(time);
    sending_ = true;
    for (const auto& c : connections_) {
        if (c->idle()) {
            c->send();
        }
    }
    while (eddy::clock::now() < end && !failure_) {
        loop_.run_until(std::min<eddy::time_point>(end, eddy::clock::now() + 100ms));
        progress();
    }
    seconds_ = std::chrono::duration<double>(eddy::clock::now() - begin).count();
    if (failure_) {
        throw std::system_error(failure_, "a connection failed");
    }
}

void client::forget() { latencies_ns_.clear(); }

double client::latency_us(double share) {
    if (latencies_ns_.empty()) {
        return 0;
    }
    const auto last = static_cast<double>(latencies_ns_.size() - 1);
    const auto place = latencies_ns_.begin() + static_cast<std::ptrdiff_t>(share * last);
    std::nth_element(latencies_ns_.begin(), place, latencies_ns_.end());
    return *place / 1000.0;
}

}  // namespace demo
