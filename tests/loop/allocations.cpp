// SPDX-License-Identifier: Apache-2.0
#include "loop/allocations.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local std::uint64_t count = 0;
thread_local std::uint64_t given_back = 0;

void* counted(std::size_t size) noexcept {
    ++count;
    return std::malloc(size != 0 ? size : 1);
}

void release(void* memory) noexcept {
    given_back += memory != nullptr ? 1 : 0;
    std::free(memory);
}

}  // namespace

std::uint64_t eddy::test::allocations() noexcept { return count; }
std::uint64_t eddy::test::releases() noexcept { return given_back; }

void* operator new(std::size_t size) {
    if (void* const memory = counted(size)) {
        return memory;
    }
    throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
