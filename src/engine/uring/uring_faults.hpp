// SPDX-License-Identifier: Apache-2.0

// Lets tests fail and shorten operations that only the kernel performs.
#pragma once

#if EDDY_HAS_IO_URING

#include <eddy/engine/io_operation.hpp>

#include <liburing.h>

namespace eddy::uring_faults {

#ifdef EDDY_FAULTS
/// True if the kernel completes an entry with any result that it is asked for (Linux 6.10).
bool can_inject_results() noexcept;

/// Makes `sqe`, which is filled for `op`, shorter, or replaces it by one that completes with an
/// error, if a test asked for that. The entry counts as the call that it stands for.
void apply(io_uring_sqe& sqe, const io_operation& op) noexcept;
/// Does for a poll of the engine's own what apply() does for operations.
void apply_to_poll(io_uring_sqe& sqe) noexcept;
#else
constexpr bool can_inject_results() noexcept { return false; }
constexpr void apply(io_uring_sqe&, const io_operation&) noexcept {}
constexpr void apply_to_poll(io_uring_sqe&) noexcept {}
#endif

}  // namespace eddy::uring_faults

#endif
