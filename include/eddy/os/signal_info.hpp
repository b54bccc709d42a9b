// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <sys/types.h>

namespace eddy {

/// A received signal. Members that do not apply to it are 0.
struct signal_info {
    int signum = 0;
    int code = 0;   ///< SI_USER, SI_QUEUE, CLD_EXITED, ...
    pid_t pid = 0;  ///< of the sender. SIGCHLD: of one child; others may have ended too
    uid_t uid = 0;
    int status = 0;           ///< SIGCHLD: exit code or signal of that child
    int error = 0;            ///< an errno value; hardly ever set
    std::intptr_t value = 0;  ///< the value of sigqueue(); of a sival_int only the low half counts

    /// Returns the value that was sent as a sival_int.
    int int_value() const noexcept { return static_cast<int>(value); }
};

}  // namespace eddy
