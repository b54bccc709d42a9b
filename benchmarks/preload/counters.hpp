#pragma once

#include <atomic>
#include <cstdint>

namespace bench {

/// What the preloaded library writes and the driver reads, in memory that both share.
struct heap_counters {
    std::atomic<std::uint64_t> allocations;  // malloc and all its relatives, operator new included
    std::atomic<std::int64_t> live_bytes;    // as the heap spends them, its headers included
};

/// Names the fd of that memory in the environment of a program that is counted.
inline constexpr const char* counters_variable = "EDDY_BENCH_COUNTERS_FD";

}  // namespace bench
