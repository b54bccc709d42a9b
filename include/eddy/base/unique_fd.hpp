// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <utility>

namespace eddy {

namespace detail {
EDDY_API void close_fd(int fd) noexcept;
}

/// Owns an fd and closes it. -1 means no fd; 0 is a valid fd.
class unique_fd {
public:
    constexpr unique_fd() noexcept = default;
    constexpr explicit unique_fd(int fd) noexcept : fd_(fd) {}
    unique_fd(unique_fd&& other) noexcept : fd_(other.release()) {}
    unique_fd& operator=(unique_fd&& other) noexcept {
        if (this != &other) {
            reset(other.release());
        }
        return *this;
    }
    ~unique_fd() { reset(); }

    constexpr int get() const noexcept { return fd_; }
    constexpr explicit operator bool() const noexcept { return fd_ >= 0; }
    [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
    void reset(int fd = -1) noexcept {
        if (const int old = std::exchange(fd_, fd); old >= 0) {
            detail::close_fd(old);
        }
    }

private:
    int fd_ = -1;
};

}  // namespace eddy
