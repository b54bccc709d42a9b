// SPDX-License-Identifier: Apache-2.0
#include "engine/allocation_counter.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define EDDY_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define EDDY_SANITIZED 1
#endif
#endif
#ifndef EDDY_SANITIZED
#define EDDY_SANITIZED 0
#endif

namespace {

std::atomic<std::uint64_t> count{0};

void count_one() noexcept { count.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

std::uint64_t eddy::test::allocations() noexcept { return count.load(std::memory_order_relaxed); }

#if EDDY_SANITIZED

// All that the sanitizer has of these, except for the aligned ones: they go together.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    count_one();
    return std::malloc(size);
}
void* operator new(std::size_t size) {
    if (void* const memory = operator new(size, std::nothrow); memory != nullptr) {
        return memory;
    }
    throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return operator new(size, std::nothrow);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

#else

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t number, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);

void* malloc(std::size_t size) {
    count_one();
    return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) {
    count_one();
    return __libc_calloc(number, size);
}
void* realloc(void* memory, std::size_t size) {
    count_one();
    return __libc_realloc(memory, size);
}
}

#endif
