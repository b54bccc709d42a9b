// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/os/signal_set.hpp>

namespace eddy {

/// Blocks `signals` in the calling thread. Masks are per thread and inherited: do it in main(),
/// before any thread is started, or a signal may go to a thread that does not block it, and be
/// lost or kill. loop_group::start(signals) does the same first. Throws std::system_error.
///
/// Returns the mask as it was. The process keeps the one from before the first call, for its
/// children: exec inherits the mask, and a program that starts with SIGTERM blocked cannot be
/// ended.
EDDY_API signal_set block_signals(signal_set signals);

/// What the mask was before the first block_signals() or loop_group::start(signals); what this
/// thread has if there was none. Thread: any.
EDDY_API signal_set original_mask() noexcept;

}  // namespace eddy
