// SPDX-License-Identifier: Apache-2.0

// Extracts the error code of an exception.
#include <eddy/async/detail/compose/code_of.hpp>

namespace eddy::detail {

std::error_code code_of(const std::exception_ptr& exception) noexcept {
    try {
        std::rethrow_exception(exception);
    } catch (const std::system_error& error) {
        return error.code();
    } catch (...) {
        return {};
    }
}

}  // namespace eddy::detail
