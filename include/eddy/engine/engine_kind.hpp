// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <cstdint>

namespace eddy {

enum class engine_kind : std::uint8_t {
    /// What the environment variable EDDY_ENGINE says (epoll, io_uring, poll, best), else epoll.
    /// The variable is ignored in set-user-id programs.
    automatic,
    epoll,
    io_uring,  ///< an error if the kernel, its administrator or this build does not have it
    poll,
    /// io_uring if a ring works from its making to a completion, else epoll: also if the ring
    /// failed
    /// for a reason that may pass, such as a lack of memory (loop::engine_choice() names it).
    best,
};

/// "epoll", "io_uring", "poll", "best" or "automatic".
EDDY_API const char* to_string(engine_kind kind) noexcept;

}  // namespace eddy
