// SPDX-License-Identifier: Apache-2.0

// The cores that are used, and the CPU time of a process.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace bench {

/// The two cores that are used; both the same one where only one is allowed.
struct core_pair {
    int server;
    int client;
};

core_pair choose_cores();

/// pid 0: the calling thread.
void pin(pid_t pid, int core);

/// The driver, and what it starts from now on, may run on any core again.
void unpin();

/// A batch task never preempts the one that wakes it. So the server starts only when the client
/// waits, and finds the whole burst: batches, and with them the counts, become exact.
void set_batch_scheduling(pid_t pid, bool batch);

/// CPU time that the process has used, of all its threads.
std::uint64_t cpu_time_ns(pid_t pid);

/// Lets the driver and its children open as many files as they may.
void raise_fd_limit();

}  // namespace bench
