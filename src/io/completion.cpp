// SPDX-License-Identifier: Apache-2.0

// Makes exceptions from error codes.
#include <eddy/io/detail/sender/completion.hpp>

#include <eddy/io/detail/sender/error_subject.hpp>

namespace eddy::detail {

std::exception_ptr system_error_of(const std::error_code& code) noexcept {
    return system_error_of(code, error_naming::take(code));
}

std::exception_ptr bare_system_error_of(const std::error_code& code) noexcept try {
    return std::make_exception_ptr(std::system_error(code));
} catch (...) {  // the message of a std::system_error is allocated
    return std::current_exception();
}

}  // namespace eddy::detail
