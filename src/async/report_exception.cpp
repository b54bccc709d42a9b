#include <eddy/async/report_exception.hpp>

#include <cstdio>

namespace eddy {

void report_exception::operator()(const std::exception_ptr& exception) const noexcept {
    try {
        std::rethrow_exception(exception);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "eddy: a task ended with an exception: %s\n", error.what());
    } catch (...) {
        std::fprintf(stderr, "eddy: a task ended with an exception that is no std::exception\n");
    }
}

}  // namespace eddy
