// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <cstdint>

namespace eddy {

/// The step at which a spawn failed. In none of these cases has a program been executed.
enum class spawn_step : std::uint8_t {
    none,     ///< the spawn has not failed
    options,  ///< contradictory or invalid
    prepare,  ///< memory, pipes and room on the loop, before a process exists
    clone,    ///< creating the process
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
