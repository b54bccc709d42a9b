// SPDX-License-Identifier: Apache-2.0

// Reads the default strategy from the environment.
#include "pollset/strategies/default_strategy.hpp"

#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

namespace eddy::detail {

poll_strategy default_strategy() {
    const char* const asked = ::secure_getenv("EDDY_POLL_STRATEGY");
    if (asked == nullptr || *asked == '\0') {
        return poll_strategy::automatic;
    }
    for (const poll_strategy kind : {poll_strategy::domain, poll_strategy::epoll1,
                                     poll_strategy::epollex, poll_strategy::poll}) {
        if (std::string_view(asked) == to_string(kind)) {
            return kind;
        }
    }
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "EDDY_POLL_STRATEGY is '" + std::string(asked) +
                                "'; it can be domain, epoll1, epollex or poll");
}

}  // namespace eddy::detail
