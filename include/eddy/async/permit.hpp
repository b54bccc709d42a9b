// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/sync/semaphore_core.hpp>

#include <cstddef>
#include <utility>

namespace eddy {

/// Owns permits of a semaphore, or the lock of a mutex, until it is destroyed. Thread: any.
class [[nodiscard]] permit {
public:
    permit() noexcept = default;
    permit(detail::semaphore_core& of, std::size_t count) noexcept : of_(&of), count_(count) {}
    permit(permit&& other) noexcept
        : of_(std::exchange(other.of_, nullptr)), count_(other.count_) {}
    permit& operator=(permit&& other) noexcept {
        if (this != &other) {
            release();
            of_ = std::exchange(other.of_, nullptr);
            count_ = other.count_;
        }
        return *this;
    }
    ~permit() { release(); }

    bool owns() const noexcept { return of_ != nullptr; }
    /// Gives the permits or the lock back now.
    void release() noexcept {
        if (auto* const of = std::exchange(of_, nullptr)) {
            of->release(count_);
        }
    }

private:
    detail::semaphore_core* of_ = nullptr;
    std::size_t count_ = 0;
};

}  // namespace eddy
