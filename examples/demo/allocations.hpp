// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace demo {

/// Returns how often this thread has called operator new, which the demonstration replaces.
std::uint64_t allocations() noexcept;

}  // namespace demo
