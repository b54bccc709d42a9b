// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace eddy::test {

/// How long a test waits for what must happen before it gives up. Generous, for slow and crowded
/// machines; a test that passes never waits that long.
inline constexpr std::chrono::seconds patience(30);

}  // namespace eddy::test
