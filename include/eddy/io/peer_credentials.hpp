// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace eddy {

/// The creator of the other end of a local socket, as recorded when the two ends were connected.
struct peer_credentials {
    pid_t pid = -1;
    uid_t uid = static_cast<uid_t>(-1);
    gid_t gid = static_cast<gid_t>(-1);
};

}  // namespace eddy
