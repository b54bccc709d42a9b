// SPDX-License-Identifier: Apache-2.0
// Timers on eddy: those that, like all of the bare heap, belong to one thread.

#include "timer/eddy_timers.hpp"

namespace {

static_assert(sizeof(eddy::local_timer) == 64, "raw_heap_64 is there to be compared with it");

template <class Handler>
using timers = bench::eddy_timers<Handler, eddy::local_timer>;

}  // namespace

int main(int argc, char** argv) { return bench::timer_main<timers>(argc, argv); }
