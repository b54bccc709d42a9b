// SPDX-License-Identifier: Apache-2.0
// Replaces malloc() and its relatives, and mmap(), by functions that fail when a memory_faults says
// so, and that count what is not given back. operator new gets its memory from malloc().

#include "support/memory_faults.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

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

namespace eddy::test {

namespace {

constinit memory_faults own;
constinit memory_faults* shared = nullptr;
[[gnu::tls_model("initial-exec")]] constinit thread_local unsigned exempt = 0;

/// Maps what the test shares, if this is the program that it tests.
[[gnu::constructor]] void share() noexcept {
    const char* const fd = std::getenv(memory_faults_variable);
    if (fd == nullptr) {
        return;
    }
    // syscall() reads a whole word of each argument, and an int fills half of one.
    const long mapped =
        ::syscall(SYS_mmap, nullptr, sizeof(memory_faults), long{PROT_READ | PROT_WRITE},
                  long{MAP_SHARED}, std::atol(fd), 0L);
    if (mapped > 0) {
        shared = reinterpret_cast<memory_faults*>(mapped);
        shared->live.fetch_add(own.live.load());
    }
}

bool fails() noexcept { return exempt == 0 && own_memory_faults().next_fails(); }

void count(std::int64_t blocks) noexcept {
    own_memory_faults().live.fetch_add(blocks, std::memory_order_relaxed);
}

/// `allocate()` gives memory, or null.
template <class Allocate>
void* unless_it_fails(Allocate allocate) noexcept {
    if (fails()) {
        errno = ENOMEM;
        return nullptr;
    }
    void* const memory = allocate();
    count(memory != nullptr ? 1 : 0);
    return memory;
}

}  // namespace

memory_faults& own_memory_faults() noexcept { return shared != nullptr ? *shared : own; }
allocations_of_test::allocations_of_test() noexcept { ++exempt; }
allocations_of_test::~allocations_of_test() { --exempt; }

}  // namespace eddy::test

using eddy::test::unless_it_fails;

#if EDDY_SANITIZED

// A sanitizer has a malloc() of its own: there only operator new fails.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return unless_it_fails([&] { return std::malloc(size != 0 ? size : 1); });
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    const auto multiple = static_cast<std::size_t>(alignment);
    return unless_it_fails(
        [&] { return std::aligned_alloc(multiple, (size + multiple - 1) & -multiple); });
}
void* operator new(std::size_t size) {
    void* const memory = operator new(size, std::nothrow);
    return memory != nullptr ? memory : throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    void* const memory = operator new(size, alignment, std::nothrow);
    return memory != nullptr ? memory : throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return operator new(size, std::nothrow);
}
void operator delete(void* memory) noexcept {
    eddy::test::count(memory != nullptr ? -1 : 0);
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { operator delete(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    operator delete(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept { operator delete(memory); }
void operator delete[](void* memory) noexcept { operator delete(memory); }
void operator delete[](void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { operator delete(memory); }

#else

extern "C" {

// glibc's own names of what is replaced here.
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t number, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);

void* malloc(std::size_t size) {
    return unless_it_fails([&] { return __libc_malloc(size); });
}
void* calloc(std::size_t number, std::size_t size) {
    return unless_it_fails([&] { return __libc_calloc(number, size); });
}
void* realloc(void* memory, std::size_t size) {
    if (memory == nullptr) {
        return malloc(size);
    }
    if (size == 0) {
        free(memory);
        return nullptr;
    }
    if (eddy::test::fails()) {
        errno = ENOMEM;
        return nullptr;
    }
    return __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
    return unless_it_fails([&] { return __libc_memalign(alignment, size); });
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
    void* const memory = memalign(alignment, size);
    if (memory == nullptr) {
        return ENOMEM;
    }
    *out = memory;
    return 0;
}
void free(void* memory) {
    eddy::test::count(memory != nullptr ? -1 : 0);
    __libc_free(memory);
}

void* mmap(void* at, std::size_t size, int protection, int flags, int fd, off_t offset) noexcept {
    if (eddy::test::fails()) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    const long mapped = ::syscall(SYS_mmap, at, size, protection, flags, fd, offset);
    eddy::test::count(mapped != -1 ? 1 : 0);
    return reinterpret_cast<void*>(mapped);
}
int munmap(void* at, std::size_t size) noexcept {
    const long result = ::syscall(SYS_munmap, at, size);
    eddy::test::count(result == 0 ? -1 : 0);
    return static_cast<int>(result);
}
}

#endif
