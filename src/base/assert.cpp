#include <eddy/base/assert.hpp>

#include <cstdio>
#include <cstdlib>

namespace eddy::detail {

void assertion_failed(const char* condition, const char* message, const char* file,
                      int line) noexcept {
    std::fprintf(stderr, "eddy: %s (%s, %s:%d)\n", message, condition, file, line);
    std::fflush(stderr);
    std::abort();
}

}  // namespace eddy::detail
