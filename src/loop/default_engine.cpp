#include "loop/default_engine.hpp"

#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

namespace eddy {

engine_kind default_engine() {
    const char* const asked = ::secure_getenv("EDDY_ENGINE");
    if (asked == nullptr || *asked == '\0') {
        return engine_kind::epoll;
    }
    for (const engine_kind kind :
         {engine_kind::epoll, engine_kind::io_uring, engine_kind::poll, engine_kind::best}) {
        if (std::string_view(asked) == to_string(kind)) {
            return kind;
        }
    }
    throw std::system_error(
        std::make_error_code(std::errc::invalid_argument),
        "EDDY_ENGINE is '" + std::string(asked) + "'; it can be epoll, io_uring, poll or best");
}

}  // namespace eddy
