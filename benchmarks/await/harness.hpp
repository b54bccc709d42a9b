// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a co_await costs if there is nothing to wait for. A subject is a type with
//
//   static std::uint64_t await_ready_ones(unsigned count);
//
// which awaits that many results in one coroutine, each the number 1, and returns their sum.

#include <cstdint>
#include <cstdio>

#include "common/clock.hpp"
#include "common/program.hpp"

namespace bench {

template <class Subject>
int await_main(int argc, char** argv) {
    const arguments given(argc, argv);
    if (given.question() != "ready") given.wrong();
    const unsigned count = given.number(0);
    const std::int64_t begin = now_ns();
    if (Subject::await_ready_ones(count) != count) {
        std::fputs("the sum is wrong\n", stderr);
        return 1;
    }
    print_metric("ns_per_await", static_cast<double>(now_ns() - begin) / count);
    return 0;
}

}  // namespace bench
