// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/engine.hpp"

#include <eddy/engine/engine_kind.hpp>
#include <eddy/intrusive/ready_queue.hpp>

#include <memory>

namespace eddy {

/// Makes the engine that is asked for: `automatic` is what EDDY_ENGINE says, or else epoll, and
/// `best` is io_uring if it works here, or else epoll. The engine knows the reason in words.
/// Throws std::system_error, which names the call that failed: the engine cannot be made; with
/// `invalid_argument`: EDDY_ENGINE has none of the names.
std::unique_ptr<engine> choose_engine(engine_kind asked, ready_queue& ready);

}  // namespace eddy
