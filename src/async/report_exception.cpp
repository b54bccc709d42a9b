// SPDX-License-Identifier: Apache-2.0

// Reports the exceptions of tasks in the background, except the end of closed sockets and the like.
#include <eddy/async/report_exception.hpp>

#include "base/report.hpp"

#include <system_error>

namespace eddy {

void report_exception::operator()(const std::exception_ptr& exception) const noexcept {
    try {
        std::rethrow_exception(exception);
    } catch (const std::system_error& error) {
        if (error.code() != std::errc::operation_canceled) {
            reportf("a task ended with an exception: %s", error.what());
        }
    } catch (const std::exception& error) {
        reportf("a task ended with an exception: %s", error.what());
    } catch (...) {
        report("a task ended with an exception that is no std::exception");
    }
}

}  // namespace eddy
