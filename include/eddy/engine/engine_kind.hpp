// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <cstdint>

namespace eddy {

/// The engine that performs the I/O of a loop.
enum class engine_kind : std::uint8_t {
    /// The engine that the environment variable EDDY_ENGINE names (epoll, io_uring, poll, best), or
    /// else epoll. The variable is ignored in set-user-id programs.
    automatic,
    epoll,
    io_uring,  ///< an error if the kernel, its administrator or this build does not have it
    poll,
    /// io_uring if a ring works from its creation to a completion, else epoll. Even an error that
    /// may pass, such as a lack of memory, selects epoll; loop::engine_choice() names it.
    best,
};

/// Returns "epoll", "io_uring", "poll", "best" or "automatic".
EDDY_API const char* to_string(engine_kind kind) noexcept;

}  // namespace eddy
