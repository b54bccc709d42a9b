// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <system_error>

namespace eddy {

/// An error together with the failed call, so that messages can name both. Converts to true if
/// there is an error.
struct call_failure {
    std::error_code error;
    /// The name of the system call. Null if no call failed, and `error` alone says what is wrong.
    const char* call = nullptr;

    explicit operator bool() const noexcept { return static_cast<bool>(error); }
    // NOLINTNEXTLINE(google-explicit-constructor): most callers only pass the code on.
    operator std::error_code() const noexcept { return error; }
};

/// The failure of an allocation.
inline call_failure out_of_memory() noexcept {
    return {std::make_error_code(std::errc::not_enough_memory), "operator new"};
}

/// Throws a std::system_error whose message consists of `what` and the name of the call.
[[noreturn]] inline void raise(const std::string& what, const call_failure& failure) {
    throw std::system_error(failure.error,
                            failure.call != nullptr ? what + ": " + failure.call : what);
}

}  // namespace eddy
