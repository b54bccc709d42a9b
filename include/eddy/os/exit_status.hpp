// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>

namespace eddy {

/// Describes how a process ended.
struct exit_status {
    /// False if nobody can say how the process ended. Only for a process that is not our child.
    bool known = false;
    int code = 0;       ///< the argument of exit() if the process exited: 0 to 255
    int signal = 0;     ///< the signal that killed the process, or 0
    bool core = false;  ///< the process was killed and left a core image
    /// False if others took the status first, or if the process is not our child.
    bool has_usage = false;
    rusage usage{};

    bool exited() const noexcept { return known && signal == 0; }
    bool success() const noexcept { return exited() && code == 0; }
};

}  // namespace eddy
