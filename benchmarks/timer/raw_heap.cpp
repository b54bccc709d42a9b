// SPDX-License-Identifier: Apache-2.0
// Timers on the bare minimum: a 4-ary heap.

#include "timer/heap_timers.hpp"

namespace {

template <class Handler>
using timers = bench::heap_timers<Handler, bench::bare_node>;

}  // namespace

int main(int argc, char** argv) { return bench::timer_main<timers>(argc, argv); }
