// SPDX-License-Identifier: Apache-2.0

// Counts by ptrace.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>

namespace bench {

/// The events at which a traced process is stopped, and which are counted.
enum class traced { syscalls, instructions };

/// Counts what a single-threaded process does while `work` runs on another thread. Exact, and
/// independent of the machine's mood; instructions are those of user space, counted by stepping.
/// The constant part (attaching, interrupted waits) must be removed by the difference of two
/// counts. Throws std::runtime_error if the process cannot be traced or ends.
std::uint64_t count_while(pid_t pid, traced what, const std::function<void()>& work);

}  // namespace bench
