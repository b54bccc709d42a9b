// SPDX-License-Identifier: Apache-2.0

// Reports the exception that a posted callable has thrown, and ends the program.
#include "base/report.hpp"

#include <eddy/loop/scheduler.hpp>

#include <exception>
#include <string_view>

namespace eddy::detail {

namespace {

/// Returns the type that the compiler has written into the signature of callable_name().
std::string_view type_in(std::string_view signature) noexcept {
    const auto begin = signature.find("Callable = ");
    const auto end = signature.rfind(']');
    return begin == signature.npos || end == signature.npos
               ? signature
               : signature.substr(begin + 11, end - begin - 11);
}

}  // namespace

void posted_callable_threw(const char* signature) noexcept {
    const std::string_view type = type_in(signature);
    const int size = static_cast<int>(type.size());
    try {
        std::rethrow_exception(std::current_exception());
    } catch (const std::exception& error) {
        report_lastf(
            "a callable given to post() threw, which ends the program: %s; the callable is %.*s",
            error.what(), size, type.data());
    } catch (...) {
        report_lastf(
            "a callable given to post() threw something that is no std::exception, which ends the "
            "program; the callable is %.*s",
            size, type.data());
    }
    std::terminate();
}

}  // namespace eddy::detail
