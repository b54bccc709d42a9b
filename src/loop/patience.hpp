// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>

#include <chrono>

namespace eddy {

/// How long the kernel or an executor may take to end an operation before it counts as stuck.
inline constexpr duration patience = std::chrono::seconds(10);

}  // namespace eddy
