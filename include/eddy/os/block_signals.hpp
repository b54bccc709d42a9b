// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/os/signal_set.hpp>

namespace eddy {

/// Blocks `signals` in the calling thread. Masks are per thread and inherited: call this in main(),
/// before any thread is started. Otherwise a signal may go to a thread that does not block it, and
/// be lost or kill. loop_group::start(signals) blocks its signals first. Throws std::system_error.
///
/// Returns the previous mask. The process keeps the mask from before the first call for its
/// children: exec inherits it, and a program that starts with SIGTERM blocked cannot be ended.
EDDY_API signal_set block_signals(signal_set signals);

/// Returns the mask from before the first block_signals() or loop_group::start(signals), or the
/// mask of this thread if there was none. Thread: any.
EDDY_API signal_set original_mask() noexcept;

}  // namespace eddy
