// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace demo {

/// Fires timers and says how late the latest was, and how early the earliest.
void show_timers(std::size_t count);

/// Passes work between the threads of a loop group.
void show_threads(std::size_t posts);

/// Runs programs, with pipes, a time limit and many at once, and sends this process signals.
void show_children(std::size_t children, int signals);

/// Serves echo on `port` until SIGINT or SIGTERM, then finishes what is under way.
int serve(unsigned short port);

}  // namespace demo
