// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace eddy::detail {

/// A queue of at most `capacity` items, in memory that is allocated once.
template <class T, class Allocator>
class ring {
    using traits = typename std::allocator_traits<Allocator>::template rebind_traits<T>;
    using allocator = typename traits::allocator_type;

public:
    ring(std::size_t capacity, const Allocator& from)
        : allocator_(from),
          items_(capacity != 0 ? traits::allocate(allocator_, capacity) : nullptr),
          capacity_(capacity) {}
    ring(const ring&) = delete;
    ring& operator=(const ring&) = delete;
    ~ring() {
        while (!empty()) pop();
        if (items_ != nullptr) traits::deallocate(allocator_, items_, capacity_);
    }

    bool empty() const noexcept { return size_ == 0; }
    bool full() const noexcept { return size_ == capacity_; }
    std::size_t size() const noexcept { return size_; }
    std::size_t capacity() const noexcept { return capacity_; }

    T& front() noexcept { return items_[first_]; }
    void push(T&& item) noexcept {
        // Not a modulo of the sum, which might overflow.
        const std::size_t room_at_end = capacity_ - first_;
        const std::size_t place = size_ < room_at_end ? first_ + size_ : size_ - room_at_end;
        std::construct_at(items_ + place, std::move(item));
        ++size_;
    }
    void push_front(T&& item) noexcept {
        first_ = (first_ == 0 ? capacity_ : first_) - 1;
        std::construct_at(items_ + first_, std::move(item));
        ++size_;
    }
    void pop() noexcept {
        std::destroy_at(items_ + first_);
        first_ = first_ + 1 == capacity_ ? 0 : first_ + 1;
        --size_;
    }

private:
    [[no_unique_address]] allocator allocator_;
    T* items_;
    std::size_t capacity_;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};

}  // namespace eddy::detail
