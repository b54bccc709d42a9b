// SPDX-License-Identifier: Apache-2.0
// Timers on eddy: those that any thread can set and cancel.

#include "timer/eddy_timers.hpp"

namespace {

static_assert(sizeof(eddy::timer) == 120, "raw_heap_128 is there to be compared with it");

template <class Handler>
using timers = bench::eddy_timers<Handler, eddy::timer>;

}  // namespace

int main(int argc, char** argv) { return bench::timer_main<timers>(argc, argv); }
