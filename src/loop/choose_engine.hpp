// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/engine.hpp"

#include <eddy/engine/engine_kind.hpp>
#include <eddy/intrusive/ready_queue.hpp>

#include <memory>

namespace eddy {

/// Makes the engine that is asked for: `automatic` is what EDDY_ENGINE says, or else epoll; `best`
/// is io_uring if it works here, or else epoll. The engine keeps the reason in words. Throws
/// std::system_error: if the engine cannot be made, naming the call that failed; `invalid_argument`
/// if EDDY_ENGINE has an unknown name.
std::unique_ptr<engine> choose_engine(engine_kind asked, ready_queue& ready);

}  // namespace eddy
