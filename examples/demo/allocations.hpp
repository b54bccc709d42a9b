// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace demo {

/// How often this thread has called operator new. The demonstration replaces it to count.
std::uint64_t allocations() noexcept;

}  // namespace demo
