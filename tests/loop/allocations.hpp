#pragma once

#include <cstdint>

namespace eddy::test {

/// How often this thread has called operator new.
std::uint64_t allocations() noexcept;

}  // namespace eddy::test
