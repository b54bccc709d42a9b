// SPDX-License-Identifier: Apache-2.0

// Replaces operator new to count the allocations of each thread.
#include "demo/allocations.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local std::uint64_t count = 0;

/// Returns null if there is no memory.
void* counted(std::size_t size, std::size_t alignment) noexcept {
    ++count;
    const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
    return std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
}

void* or_throw(void* memory) {
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

constexpr std::size_t usual = alignof(std::max_align_t);

}  // namespace

std::uint64_t demo::allocations() noexcept { return count; }

void* operator new(std::size_t size) { return or_throw(counted(size, usual)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return counted(size, usual);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return or_throw(counted(size, static_cast<std::size_t>(alignment)));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
