// SPDX-License-Identifier: Apache-2.0
// Preloaded into a server: counts what it allocates, into memory that the driver reads meanwhile.
// The server needs not cooperate, nor stop.

#include <malloc.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "preload/counters.hpp"

// glibc's own names of what is replaced here; asking dlsym() for them would allocate.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {

bench::heap_counters before_start;
bench::heap_counters* counters = &before_start;

[[gnu::constructor]] void share_counters() {
    const char* fd = std::getenv(bench::counters_variable);
    if (fd == nullptr) return;
    void* shared = ::mmap(nullptr, sizeof(bench::heap_counters), PROT_READ | PROT_WRITE, MAP_SHARED,
                          std::atoi(fd), 0);
    if (shared == MAP_FAILED) return;
    auto* found = static_cast<bench::heap_counters*>(shared);
    found->allocations = before_start.allocations.load();
    found->live_bytes = before_start.live_bytes.load();
    counters = found;
}

/// A chunk is as large as what can be used of it, and one header.
std::int64_t cost(void* p) {
    return static_cast<std::int64_t>(::malloc_usable_size(p) + sizeof(std::size_t));
}

void add(std::int64_t size, std::int64_t pieces) {
    counters->live_bytes.fetch_add(size * pieces, std::memory_order_relaxed);
    const std::size_t units = static_cast<std::size_t>(size) / bench::piece_unit;
    if (units < counters->live_pieces.size()) {
        counters->live_pieces[units].fetch_add(pieces, std::memory_order_relaxed);
    }
}

void* counted(void* p) {
    if (p != nullptr) {
        counters->allocations.fetch_add(1, std::memory_order_relaxed);
        add(cost(p), 1);
    }
    return p;
}

void uncount(void* p) {
    if (p != nullptr) add(cost(p), -1);
}

}  // namespace

#define BENCH_EXPORT extern "C" [[gnu::visibility("default")]]

BENCH_EXPORT void* malloc(std::size_t size) { return counted(__libc_malloc(size)); }

BENCH_EXPORT void* calloc(std::size_t n, std::size_t size) {
    return counted(__libc_calloc(n, size));
}

BENCH_EXPORT void* realloc(void* p, std::size_t size) {
    uncount(p);
    void* moved = __libc_realloc(p, size);
    // It failed, and the old memory is still there.
    if (moved == nullptr && size != 0 && p != nullptr) add(cost(p), 1);
    return counted(moved);
}

BENCH_EXPORT void free(void* p) {
    uncount(p);
    __libc_free(p);
}

BENCH_EXPORT void* memalign(std::size_t alignment, std::size_t size) {
    return counted(__libc_memalign(alignment, size));
}

BENCH_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t size) {
    return counted(__libc_memalign(alignment, size));
}

BENCH_EXPORT int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
    *out = counted(__libc_memalign(alignment, size));
    return *out == nullptr ? ENOMEM : 0;
}
