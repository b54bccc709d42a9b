// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace bench {

/// Pieces of the heap are multiples of this; larger ones than `piece_max` are not told apart.
inline constexpr std::size_t piece_unit = 16;
inline constexpr std::size_t piece_max = 2048;

/// What the preloaded library writes and the driver reads, in memory that both share.
struct heap_counters {
    std::atomic<std::uint64_t> allocations;  // malloc and all its relatives, operator new included
    std::atomic<std::int64_t> live_bytes;    // as the heap spends them, its headers included
    std::array<std::atomic<std::int64_t>, piece_max / piece_unit + 1> live_pieces;  // by size
};

/// Names the fd of that memory in the environment of a program that is counted.
inline constexpr const char* counters_variable = "EDDY_BENCH_COUNTERS_FD";

}  // namespace bench
