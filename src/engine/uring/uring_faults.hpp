// SPDX-License-Identifier: Apache-2.0
#pragma once

#if EDDY_HAS_IO_URING

#include <eddy/engine/io_operation.hpp>

#include <liburing.h>

/// Lets tests fail and shorten operations that only the kernel performs.
namespace eddy::uring_faults {

#ifdef EDDY_FAULTS
/// True where the kernel completes an entry with any result that it is asked for (Linux 6.10).
bool can_inject_results() noexcept;

/// `sqe` is filled for `op`. It is made shorter, or replaced by one that completes with an error,
/// if a test asked for that: the entry counts as the call that it stands for.
void apply(io_uring_sqe& sqe, const io_operation& op) noexcept;
/// The same for a poll that no operation asks for.
void apply_to_poll(io_uring_sqe& sqe) noexcept;
#else
constexpr bool can_inject_results() noexcept { return false; }
constexpr void apply(io_uring_sqe&, const io_operation&) noexcept {}
constexpr void apply_to_poll(io_uring_sqe&) noexcept {}
#endif

}  // namespace eddy::uring_faults

#endif
