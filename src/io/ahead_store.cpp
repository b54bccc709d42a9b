// SPDX-License-Identifier: Apache-2.0

// Stores connections in a ring that grows, and received buffers in a list.
#include <eddy/io/detail/ahead/ahead_store.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace eddy::detail {

void fd_ring::push(unique_fd fd) noexcept {
    if (size_ == ring_.size()) {  // the kernel accepted more before it stopped
        try {
            std::vector<unique_fd> larger(ring_.size() * 2);
            std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(oldest_),
                        ring_.end());
            std::move(ring_.begin(), ring_.end(), larger.begin());
            ring_ = std::move(larger);
            oldest_ = 0;
        } catch (const std::exception&) {
            return;
        }
    }
    ring_[(oldest_ + size_) % ring_.size()] = std::move(fd);
    ++size_;
}

unique_fd fd_ring::pop() noexcept {
    unique_fd taken = std::move(ring_[oldest_]);
    oldest_ = (oldest_ + 1) % ring_.size();
    --size_;
    return taken;
}

void lease_chain::push(lease last) noexcept {
    lease_buffer* const buffer = std::exchange(last.buffer_, nullptr);
    buffer->next_free = nullptr;
    (first_ == nullptr ? first_ : last_->next_free) = buffer;
    last_ = buffer;
    ++size_;
}

lease lease_chain::pop() noexcept {
    lease_buffer* const buffer = first_;
    first_ = std::exchange(buffer->next_free, nullptr);
    --size_;
    return lease(buffer);
}

void lease_chain::clear() noexcept {
    while (size_ != 0) {
        pop().reset();
    }
}

}  // namespace eddy::detail
