// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace demo {

/// Fires timers, and prints how late the earliest and the latest of them were.
void show_timers(std::size_t count);

/// Passes work between the threads of a loop group.
void show_threads(std::size_t posts);

/// Runs programs (with pipes, with a time limit, many at once), and sends signals to this process.
void show_children(std::size_t children, int signals);

/// Serves echo on `port` until SIGINT or SIGTERM, and then finishes pending requests.
int serve(unsigned short port);

}  // namespace demo
