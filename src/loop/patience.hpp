// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>

#include <chrono>

namespace eddy {

/// What the kernel, or an executor, takes longer than this to end, it will not end.
inline constexpr duration patience = std::chrono::seconds(10);

}  // namespace eddy
