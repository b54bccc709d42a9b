// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace eddy::test {

/// Runs `body` in a forked child and returns how it ended: its return value (0 to 255), 1000 + n
/// for signal n, 2000 if it took too long. Failures of gtest in the child count as 99.
int in_child(const std::function<int()>& body);

/// The same, but the child is the first process of a pid namespace of its own, in which it chooses
/// numbers without others noticing. `not_permitted` if this user may not make one.
int in_pid_namespace(const std::function<int()>& body);
inline constexpr int not_permitted = 77;

}  // namespace eddy::test
