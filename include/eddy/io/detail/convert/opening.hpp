// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/detail/convert/converts.hpp>
#include <eddy/io/detail/sender/error_subject.hpp>
#include <eddy/loop/descriptor.hpp>

#include <string>
#include <system_error>
#include <utility>

namespace eddy::detail {
EDDY_EX_BEGIN

/// The Convert of an open. Owns the path, and refuses a NUL, at which the kernel would cut it.
template <class File>
struct opening : as_handle<File> {
    const char* function;  ///< for exceptions
    std::string path;

    opening(loop* where, const char* called, std::string name) noexcept
        : as_handle<File>{where}, function(called), path(std::move(name)) {}

    /// Moves the path out. Precondition: the open has failed, and no longer needs it.
    error_subject subject() noexcept { return {function, {}, std::move(path)}; }
    std::error_code prepare(io_request& request) noexcept {
        if (path.find('\0') != std::string::npos) {
            return std::make_error_code(std::errc::invalid_argument);
        }
        request.data = path.data();
        return {};
    }
};

EDDY_EX_END
}  // namespace eddy::detail
