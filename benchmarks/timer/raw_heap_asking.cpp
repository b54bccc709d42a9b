// SPDX-License-Identifier: Apache-2.0
// Timers on that heap that ask all that a local timer of eddy asks, and are as large.

#include "timer/heap_timers.hpp"

namespace {

static_assert(sizeof(bench::asking_node) == 64);

template <class Handler>
using timers = bench::heap_timers<Handler, bench::asking_node>;

}  // namespace

int main(int argc, char** argv) { return bench::timer_main<timers>(argc, argv); }
