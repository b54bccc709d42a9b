// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/process.hpp"

/// What runs in the child, on the parent's memory while the calling thread of the parent stands
/// still: sanitizers would book it to that thread, and its frames are never left.
#define EDDY_IN_CHILD [[gnu::no_sanitize_thread, gnu::no_sanitize_address]]

namespace eddy::kernel {

struct child_job {
    const spawn_plan* plan;
    /// Written by the child, read by the parent after the child has left its memory.
    int error = 0;
    spawn_step step = spawn_step::none;
};

/// Takes a child_job. Does not return: the child becomes another program, or ends.
EDDY_IN_CHILD int child_main(void* argument);

}  // namespace eddy::kernel
