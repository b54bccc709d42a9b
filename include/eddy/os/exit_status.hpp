// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>

namespace eddy {

/// How a process ended.
struct exit_status {
    /// False: it has ended, and nobody can say how. Only for a process that is not our child.
    bool known = false;
    int code = 0;       ///< what it gave to exit(), if it did: 0 to 255
    int signal = 0;     ///< the signal that killed it, or 0
    bool core = false;  ///< it was killed and left a core image
    /// False where others took the status first, and for what is not our child.
    bool has_usage = false;
    rusage usage{};

    bool exited() const noexcept { return known && signal == 0; }
    bool success() const noexcept { return exited() && code == 0; }
};

}  // namespace eddy
