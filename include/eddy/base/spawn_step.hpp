// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <cstdint>

namespace eddy {

/// What a spawn was doing when it failed. Nothing has been executed in any of these cases.
enum class spawn_step : std::uint8_t {
    none,     ///< it has not failed
    options,  ///< they make no sense
    prepare,  ///< memory, pipes and room on the loop, before there is a process
    clone,    ///< making the process
    session,
    process_group,
    descriptors,  ///< placing standard and extra fds
    limits,
    groups,
    group,
    user,
    directory,
    execute,  ///< the program: missing, not executable, too many arguments
};

EDDY_API const char* to_string(spawn_step step) noexcept;

}  // namespace eddy
