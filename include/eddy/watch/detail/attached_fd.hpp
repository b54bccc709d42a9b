// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/unique_fd.hpp>
#include <eddy/loop/descriptor.hpp>

#include <utility>

namespace eddy::detail {

/// An fd that a watch has attached to its loop, and owns or borrows. Empty after forget().
class EDDY_API attached_fd {
public:
    attached_fd() noexcept = default;
    /// Attaches an fd and owns it. Throws std::system_error; the fd is closed then.
    attached_fd(loop& home, unique_fd fd, const char* name);
    /// Attaches an fd and borrows it. Throws std::system_error; the fd is left alone then.
    attached_fd(loop& home, int fd, const char* name) : borrowed_(true) {
        if (!descriptor_.attach_again(home, fd, name)) {
            borrow(home, fd, name);
        }
    }
    /// Takes over an attached fd that forget() has given up, from the request of a wait on it.
    attached_fd(loop& home, const io_request& on, bool borrowed) noexcept;
    attached_fd(attached_fd&& other) noexcept
        : descriptor_(std::move(other.descriptor_)), borrowed_(other.borrowed_) {}
    attached_fd& operator=(attached_fd&& other) noexcept {
        detach();
        descriptor_ = std::move(other.descriptor_);
        borrowed_ = other.borrowed_;
        return *this;
    }
    ~attached_fd() { detach(); }

    explicit operator bool() const noexcept { return descriptor_.slot_ != nullptr; }
    const descriptor& get() const noexcept { return descriptor_; }
    /// Gives the fd up without detaching it: somebody else is responsible for it now.
    void forget() noexcept {
        descriptor_.slot_ = nullptr;
        descriptor_.home_ = nullptr;
    }
    /// Closes an owned fd, or gives a borrowed one back as it was.
    void detach() noexcept {
        if (descriptor_.slot_ != nullptr) {
            part();
        }
    }

private:
    void borrow(loop& home, int fd, const char* name);
    void part() noexcept;

    descriptor descriptor_;
    bool borrowed_ = false;
};

}  // namespace eddy::detail
