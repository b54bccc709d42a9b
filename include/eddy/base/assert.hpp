// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

namespace eddy::detail {

/// Writes the message to standard error and aborts.
[[noreturn]] EDDY_API void assertion_failed(const char* condition, const char* message,
                                            const char* file, int line) noexcept;

}  // namespace eddy::detail

/// Ends the program with a message on misuse of the library, in every build. A check costs a
/// compare and a branch that is never taken. Errors of the outside world (the kernel, peers, other
/// processes) are values and never end here.
#define EDDY_ASSERT(condition, message)                \
    (__builtin_expect(static_cast<bool>(condition), 1) \
         ? static_cast<void>(0)                        \
         : ::eddy::detail::assertion_failed(#condition, message, __FILE__, __LINE__))
