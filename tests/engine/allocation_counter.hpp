// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace eddy::test {

/// How often this program has taken memory: by operator new, and where no sanitizer has replaced
/// it, by malloc and its kin.
std::uint64_t allocations() noexcept;

}  // namespace eddy::test
