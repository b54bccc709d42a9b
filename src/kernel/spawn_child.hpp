// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/process.hpp"

/// Marks code that runs in the child, on the parent's memory, while the parent's calling thread
/// waits. Sanitizers would attribute that code to the waiting thread, and its frames are never
/// left.
#define EDDY_IN_CHILD [[gnu::no_sanitize_thread, gnu::no_sanitize_address]]

namespace eddy::kernel {

struct child_job {
    const spawn_plan* plan;
    /// Written by the child, and read by the parent after the child has left the shared memory.
    int error = 0;
    spawn_step step = spawn_step::none;
};

/// Runs a child_job. Does not return: the child becomes another program, or ends.
EDDY_IN_CHILD int child_main(void* argument);

}  // namespace eddy::kernel
