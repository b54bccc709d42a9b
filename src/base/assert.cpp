// SPDX-License-Identifier: Apache-2.0

// Reports a failed assertion and aborts.
#include <eddy/base/assert.hpp>

#include "base/report.hpp"

#include <cstdlib>

namespace eddy::detail {

void assertion_failed(const char* condition, const char* message, const char* file,
                      int line) noexcept {
    report_lastf("%s (%s, %s:%d)", message, condition, file, line);
    std::abort();
}

}  // namespace eddy::detail
