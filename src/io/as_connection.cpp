// SPDX-License-Identifier: Apache-2.0

// Reports connections that were closed because they could not be attached.
#include <eddy/io/detail/connect/as_connection.hpp>

#include "base/report.hpp"

#include <string.h>

namespace eddy::detail {

void report_refused(std::error_code error) noexcept {
    const bool own = error.category() == error_category();
    const char* const words = own ? nullptr : ::strerrordesc_np(error.value());
    reportf("a connection was closed because it could not be attached to its loop: %s",
            words == nullptr ? "an error of eddy's own" : words);
}

}  // namespace eddy::detail
