// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <exception>

namespace eddy {

/// Reports an exception that nobody caught, see set_report_handler(). It reports nothing of a
/// std::system_error with `operation_canceled`, by which a task ends whose socket, file, process or
/// the like was closed: that is how programs end in good order.
struct report_exception {
    EDDY_API void operator()(const std::exception_ptr& exception) const noexcept;
};

}  // namespace eddy
