// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/os/exit_status.hpp>

#include <cstdint>

#include <sys/types.h>

namespace eddy {

enum class child_change : std::uint8_t {
    ended,
    stopped,
    continued,
};

/// A change of a child.
struct child_event {
    child_change what = child_change::ended;
    pid_t pid = -1;
    int stopped_by = 0;  ///< the signal, if the child was stopped
    exit_status status{};
};

}  // namespace eddy
