// SPDX-License-Identifier: Apache-2.0
#include "load/burst.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "common/clock.hpp"

namespace bench {

namespace {

[[noreturn]] void fail(const char* what, ssize_t n) {
    const char* why = n == 0 ? "closed by the server" : std::strerror(errno);
    if (n < 0 && errno == EAGAIN) why = "not within the time limit";
    throw std::runtime_error(std::string(what) + ": " + why);
}

void send_all(int fd, const std::vector<char>& bytes) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n != static_cast<ssize_t>(bytes.size())) fail("request", n);
}

void receive_all(int fd, std::vector<char>& bytes) {
    const ssize_t n = ::recv(fd, bytes.data(), bytes.size(), MSG_WAITALL);
    if (n != static_cast<ssize_t>(bytes.size())) fail("reply", n);
}

}  // namespace

burst_load::burst_load(int port, load_shape shape)
    : shape_(shape),
      connections_(connect_all(port, shape.connections)),
      request_(shape.bytes_a_batch()),
      reply_(shape.bytes_a_batch()) {
    for (std::size_t i = 0; i < request_.size(); ++i) {
        request_[i] = static_cast<char>('a' + i * 7 % 26);
    }
}

void burst_load::one_burst() {
    for (const unique_fd& c : connections_) send_all(c.get(), request_);
    for (const unique_fd& c : connections_) receive_all(c.get(), reply_);
}

std::uint64_t burst_load::run_for(std::int64_t duration_ns) {
    std::uint64_t bursts = 0;
    for (const std::int64_t end = now_ns() + duration_ns; now_ns() < end; ++bursts) one_burst();
    return bursts * shape_.requests_a_burst();
}

void burst_load::check() {
    for (const unique_fd& c : connections_) send_all(c.get(), request_);
    for (const unique_fd& c : connections_) {
        receive_all(c.get(), reply_);
        if (reply_ != request_) throw std::runtime_error("the reply is not what was sent");
    }
}

}  // namespace bench
