// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/counting_resource.hpp"

#include <cstddef>
#include <memory_resource>
#include <new>

namespace eddy::test {

/// An allocator that is none of pmr, with the counts of a resource.
template <class T>
class counting_allocator {
public:
    using value_type = T;

    explicit counting_allocator(counting_resource& memory) noexcept : memory_(&memory) {}
    template <class Other>
    counting_allocator(const counting_allocator<Other>& other) noexcept : memory_(other.memory_) {}

    T* allocate(std::size_t count) {
        return static_cast<T*>(memory_->allocate(count * sizeof(T), alignof(T)));
    }
    void deallocate(T* memory, std::size_t count) noexcept {
        memory_->deallocate(memory, count * sizeof(T), alignof(T));
    }
    template <class Other>
    bool operator==(const counting_allocator<Other>& other) const noexcept {
        return memory_ == other.memory_;
    }

private:
    template <class Other>
    friend class counting_allocator;

    counting_resource* memory_;
};

}  // namespace eddy::test
