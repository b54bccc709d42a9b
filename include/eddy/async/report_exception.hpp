// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <exception>

namespace eddy {

/// Reports an exception that nobody caught, see set_report_handler(). A std::system_error with
/// `operation_canceled` is not reported: a task ends with it when its socket, file, process or the
/// like is closed, which is part of an orderly end.
struct report_exception {
    EDDY_API void operator()(const std::exception_ptr& exception) const noexcept;
};

}  // namespace eddy
