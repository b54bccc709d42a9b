// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/engine/detail/lease_buffer.hpp>

#include <cstddef>
#include <span>
#include <utility>

namespace eddy {

namespace detail {
class lease_chain;
}

/// A buffer of received data that belongs to a loop and is lent to the holder of this object. Its
/// destructor gives the buffer back, for another receive. An empty lease has no buffer.
///
/// Thread: any, one at a time. Lifetime: may outlive the descriptor and the loop.
class lease {
public:
    lease() noexcept = default;
    lease(lease&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
    lease& operator=(lease&& other) noexcept {
        if (this != &other) {
            reset();
            buffer_ = std::exchange(other.buffer_, nullptr);
        }
        return *this;
    }
    ~lease() { reset(); }

    std::span<std::byte> data() const noexcept {
        return buffer_ != nullptr ? std::span(buffer_->bytes(), buffer_->size)
                                  : std::span<std::byte>();
    }
    std::size_t size() const noexcept { return buffer_ != nullptr ? buffer_->size : 0; }
    bool empty() const noexcept { return buffer_ == nullptr; }
    /// True if the lease has a buffer.
    explicit operator bool() const noexcept { return buffer_ != nullptr; }

    /// Gives the buffer back.
    void reset() noexcept {
        if (buffer_ != nullptr) {
            give_back();
        }
    }

private:
    explicit lease(detail::lease_buffer* buffer) noexcept : buffer_(buffer) {}
    EDDY_API void give_back() noexcept;

    detail::lease_buffer* buffer_ = nullptr;

    friend class loop;
    friend class detail::lease_chain;
};

}  // namespace eddy
