// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/pollset/poll_domain.hpp>

namespace eddy::detail {

/// What EDDY_POLL_STRATEGY asks for, or `automatic`. Throws std::system_error, `invalid_argument`,
/// if it is none of the names.
poll_strategy default_strategy();

}  // namespace eddy::detail
