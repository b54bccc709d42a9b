// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace eddy::ex_testing {

/// How often this thread has called operator new.
std::size_t allocations() noexcept;

}  // namespace eddy::ex_testing
