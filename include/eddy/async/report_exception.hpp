#pragma once

#include <eddy/base/config.hpp>

#include <exception>

namespace eddy {

/// Writes a line about an exception that nobody caught to standard error.
struct report_exception {
    EDDY_API void operator()(const std::exception_ptr& exception) const noexcept;
};

}  // namespace eddy
