// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/pollset/poll_domain.hpp>

namespace eddy::detail {

/// Returns the strategy that EDDY_POLL_STRATEGY names, or `automatic` if it is unset or empty.
/// Throws std::system_error, `invalid_argument`, for any other name.
poll_strategy default_strategy();

}  // namespace eddy::detail
