#include "engine/result_pool.hpp"

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

void result_pool::append(std::uint32_t& first, std::uint32_t& last, std::int32_t result) noexcept {
    const std::uint32_t index = free_;
    free_ = records_[index].next;
    ++used_;
    records_[index] = {result, none};
    if (first != none) {
        records_[last].next = index;
    } else {
        first = index;
    }
    last = index;
}

std::int32_t result_pool::take(std::uint32_t& first) noexcept {
    const std::uint32_t index = first;
    const record taken = records_[index];
    first = taken.next;
    records_[index].next = free_;
    free_ = index;
    --used_;
    return taken.result;
}

}  // namespace eddy
