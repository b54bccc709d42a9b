// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace eddy::test {

/// How often this thread has called operator new.
std::uint64_t allocations() noexcept;
/// How often it has given such memory back.
std::uint64_t releases() noexcept;

}  // namespace eddy::test
