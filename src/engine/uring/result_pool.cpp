// SPDX-License-Identifier: Apache-2.0

// Grows and clears the pool of results.
#include "engine/uring/result_pool.hpp"

#include <new>

namespace eddy {

std::error_code result_pool::grow(std::size_t count) noexcept try {
    const std::size_t before = records_.size();
    records_.resize(before + count);
    for (std::size_t i = before; i != records_.size(); ++i) {
        records_[i].next = free_;
        free_ = static_cast<std::uint32_t>(i);
    }
    return {};
} catch (const std::bad_alloc&) {
    return std::make_error_code(std::errc::not_enough_memory);
}

void result_pool::clear() noexcept {
    records_.clear();
    free_ = none;
    used_ = 0;
}

}  // namespace eddy
