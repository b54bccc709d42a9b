// SPDX-License-Identifier: Apache-2.0
#include "intrusive/memory.hpp"

#include <cstdlib>
#include <new>
#include <utility>

namespace {

thread_local std::uint64_t count = 0;
thread_local bool exhausted = false;
thread_local eddy::function_ref<void()>* act = nullptr;

void begin() noexcept {
    ++count;
    if (auto* const now = std::exchange(act, nullptr)) {
        (*now)();
    }
}

void* allocate(std::size_t size) noexcept {
    begin();
    return exhausted ? nullptr : std::malloc(size != 0 ? size : 1);
}

void* allocate_or_throw(std::size_t size) {
    if (void* const memory = allocate(size)) {
        return memory;
    }
    throw std::bad_alloc();
}

}  // namespace

namespace eddy::test {

std::uint64_t allocations() noexcept { return count; }
no_memory::no_memory() noexcept { exhausted = true; }
no_memory::~no_memory() { exhausted = false; }
inside_allocation::inside_allocation(function_ref<void()> act) noexcept : act_(act) {
    ::act = &act_;
}
inside_allocation::~inside_allocation() { ::act = nullptr; }

}  // namespace eddy::test

void* operator new(std::size_t size) { return allocate_or_throw(size); }
void* operator new[](std::size_t size) { return allocate_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    begin();
    const auto multiple = static_cast<std::size_t>(alignment);
    return exhausted ? nullptr : std::aligned_alloc(multiple, (size + multiple - 1) & -multiple);
}
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
