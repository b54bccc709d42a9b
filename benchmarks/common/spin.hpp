// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

namespace bench {

/// How long a server that can spins before it blocks; 0: not at all.
inline long spin_us() {
    const char* const text = std::getenv("BENCH_SPIN_US");
    return text != nullptr ? std::atol(text) : 0;
}

}  // namespace bench
