#pragma once

#include <eddy/engine/engine_kind.hpp>

namespace eddy {

/// What `engine_kind::automatic` means in this process. Throws std::system_error with
/// `invalid_argument` if EDDY_ENGINE is none of the names.
engine_kind default_engine();

}  // namespace eddy
