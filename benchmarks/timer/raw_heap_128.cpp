// SPDX-License-Identifier: Apache-2.0
// Timers on that heap with the duties of a library, and timers about as large as those of eddy that
// any thread can set.

#include "timer/heap_timers.hpp"

namespace {

template <class Handler>
using timers = bench::heap_timers<Handler, bench::library_node<128>>;

}  // namespace

int main(int argc, char** argv) { return bench::timer_main<timers>(argc, argv); }
