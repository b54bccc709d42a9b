#pragma once

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

}  // namespace eddy::test
