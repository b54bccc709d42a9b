// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <exception>
#include <system_error>

namespace eddy::detail {

/// Returns the code of a std::system_error, or an empty code for other exceptions.
EDDY_API std::error_code code_of(const std::exception_ptr& exception) noexcept;

}  // namespace eddy::detail
