#include <eddy/io/detail/completion.hpp>

namespace eddy::detail {

std::exception_ptr system_error_of(const std::error_code& code) noexcept {
    return std::make_exception_ptr(std::system_error(code));
}

}  // namespace eddy::detail
