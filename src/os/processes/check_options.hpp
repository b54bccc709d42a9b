// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/os/process_options.hpp>

#include <system_error>

namespace eddy {

/// Returns `invalid_argument` for options that no kernel could make sense of.
std::error_code check(const process_options& options) noexcept;

}  // namespace eddy
