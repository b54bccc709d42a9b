// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace eddy {

/// Counts what a loop has done since it was made. Only the loop's thread counts.
struct loop_counters {
    std::uint64_t turns = 0;
    std::uint64_t waits = 0;        ///< waits for the kernel that were allowed to block
    std::uint64_t wakes = 0;        ///< waits that another thread ended by writing the eventfd
    std::uint64_t completions = 0;  ///< callbacks called, and results that needed none
    std::uint64_t inline_completions = 0;  ///< those of them inside a start()
    std::uint64_t posts = 0;               ///< entries that the loop took
    std::uint64_t timers_fired = 0;
    std::uint64_t syscalls = 0;      ///< made by eddy while the loop was running
    std::uint64_t spins_paid = 0;    ///< spins that found something to do: see loop_options::spin
    std::uint64_t spins_missed = 0;  ///< found nothing, or only what came while off the core
    std::uint64_t leases_out = 0;    ///< buffers of receive() that are out at the moment
};

/// An operation, timer or entry that a loop waits for.
struct live_operation {
    const char* what;  ///< "recv", "accept", "timer", "entry", ...
    const char* name;  ///< of the descriptor or timer, or ""
    int fd;            ///< -1: none
};

}  // namespace eddy
