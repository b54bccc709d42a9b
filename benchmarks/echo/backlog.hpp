// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <vector>

namespace bench {

/// What the peer did not take yet. Rare, so a connection pays for one pointer only.
class backlog {
public:
    bool empty() const noexcept { return !rest_; }

    /// Sends what it can of `data` and keeps the rest. False: the connection is broken.
    bool send(int fd, const char* data, std::size_t size) {
        const ssize_t sent = ::send(fd, data, size, MSG_NOSIGNAL);
        if (sent == static_cast<ssize_t>(size)) return true;
        if (sent < 0 && errno != EAGAIN) return false;
        keep(data + (sent < 0 ? 0 : sent), size - (sent < 0 ? 0 : static_cast<std::size_t>(sent)));
        return true;
    }

    void keep(const char* data, std::size_t size) {
        rest_ = std::make_unique<rest>();
        rest_->bytes.assign(data, data + size);
    }

    /// Sends what is left. False: the connection is broken.
    bool flush(int fd) {
        const std::size_t size = rest_->bytes.size() - rest_->sent;
        const ssize_t n = ::send(fd, rest_->bytes.data() + rest_->sent, size, MSG_NOSIGNAL);
        if (n < 0) return errno == EAGAIN;
        rest_->sent += static_cast<std::size_t>(n);
        if (rest_->sent == rest_->bytes.size()) rest_.reset();
        return true;
    }

private:
    struct rest {
        std::vector<char> bytes;
        std::size_t sent = 0;
    };
    std::unique_ptr<rest> rest_;
};

}  // namespace bench
