#include <eddy/base/assert.hpp>

#include "base/report.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace eddy::detail {

void assertion_failed(const char* condition, const char* message, const char* file,
                      int line) noexcept {
    char text[400];
    const int wanted =
        std::snprintf(text, sizeof text, "%s (%s, %s:%d)", message, condition, file, line);
    if (wanted > 0) {
        const auto length = static_cast<std::size_t>(wanted);
        report_last({text, length < sizeof text ? length : sizeof text - 1});
    }
    std::abort();
}

}  // namespace eddy::detail
