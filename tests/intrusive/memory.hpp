// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/function_ref.hpp>

#include <cstdint>

namespace eddy::test {

/// How often this thread has called operator new.
std::uint64_t allocations() noexcept;

/// While it lives, operator new of this thread finds no memory.
class no_memory {
public:
    no_memory() noexcept;
    ~no_memory();
    no_memory(const no_memory&) = delete;
    no_memory& operator=(const no_memory&) = delete;
};

/// `act` is called once, inside the next operator new of this thread.
class inside_allocation {
public:
    explicit inside_allocation(function_ref<void()> act) noexcept;
    ~inside_allocation();
    inside_allocation(const inside_allocation&) = delete;
    inside_allocation& operator=(const inside_allocation&) = delete;

private:
    function_ref<void()> act_;
};

}  // namespace eddy::test
