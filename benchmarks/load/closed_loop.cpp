// SPDX-License-Identifier: Apache-2.0
#include "load/closed_loop.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

#include "common/clock.hpp"
#include "common/stats.hpp"

namespace bench {

namespace {

constexpr std::size_t latencies_max = 4'000'000;
constexpr int wait_max_ms = 5'000;

[[noreturn]] void fail(const char* what) {
    throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

}  // namespace

closed_loop_load::closed_loop_load(int port, load_shape shape, client_waits how)
    : shape_(shape),
      how_(how),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      connections_(shape.connections),
      request_(shape.bytes_a_batch(), 'e'),
      reply_(shape.bytes_a_batch()) {
    std::vector<unique_fd> fds = connect_all(port, shape.connections);
    for (std::size_t i = 0; i < fds.size(); ++i) {
        connections_[i].fd = std::move(fds[i]);
        epoll_event e{.events = EPOLLIN, .data = {.ptr = &connections_[i]}};
        if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, connections_[i].fd.get(), &e) != 0) {
            fail("epoll_ctl");
        }
    }
}

/// How many connections have a reply.
int closed_loop_load::wait(std::span<epoll_event> events) {
    const bool spins = how_ == client_waits::spinning;
    const std::int64_t end = now_ns() + std::int64_t{wait_max_ms} * 1'000'000;
    int n = 0;
    do {
        n = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                         spins ? 0 : wait_max_ms);
    } while (n == 0 && spins && now_ns() < end);
    if (n <= 0) throw std::runtime_error("reply: not within the time limit");
    return n;
}

/// A batch never exceeds 64 KiB, for which the kernel's buffer has room: none is taken in part.
void closed_loop_load::send_batch(connection& c) {
    c.sent_at = now_ns();
    c.missing = request_.size();
    const ssize_t n = ::send(c.fd.get(), request_.data(), request_.size(), MSG_NOSIGNAL);
    if (n != static_cast<ssize_t>(request_.size())) fail("request");
}

/// True: the whole batch was answered.
bool closed_loop_load::receive(connection& c) {
    const ssize_t n = ::recv(c.fd.get(), reply_.data(), c.missing, MSG_DONTWAIT);
    if (n == 0) throw std::runtime_error("reply: closed by the server");
    if (n < 0 && errno != EAGAIN) fail("reply");
    if (n > 0) c.missing -= static_cast<std::size_t>(n);
    return n > 0 && c.missing == 0;
}

/// Waits for what is still under way, so that the next run starts from silence.
void closed_loop_load::settle() {
    for (connection& c : connections_) {
        while (c.missing > 0) {
            const ssize_t n = ::recv(c.fd.get(), reply_.data(), c.missing, 0);
            if (n <= 0) fail("last replies");
            c.missing -= static_cast<std::size_t>(n);
        }
    }
}

closed_loop_result closed_loop_load::run_for(std::int64_t duration_ns) {
    latencies_us_.clear();
    std::uint64_t requests = 0;
    std::array<epoll_event, 512> events;
    const std::int64_t begin = now_ns();
    std::int64_t now = begin;
    for (connection& c : connections_) send_batch(c);
    while (now < begin + duration_ns) {
        const int n = wait(events);
        for (int i = 0; i < n; ++i) {
            auto& c = *static_cast<connection*>(events[static_cast<std::size_t>(i)].data.ptr);
            if (!receive(c)) continue;
            requests += shape_.pipeline;
            now = now_ns();
            if (latencies_us_.size() < latencies_max) {
                latencies_us_.push_back(static_cast<double>(now - c.sent_at) / 1e3);
            }
            send_batch(c);
        }
    }
    settle();
    std::sort(latencies_us_.begin(), latencies_us_.end());
    return {static_cast<double>(requests) * 1e9 / static_cast<double>(now - begin),
            quantile(latencies_us_, .5), quantile(latencies_us_, .99)};
}

}  // namespace bench
