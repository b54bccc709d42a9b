// SPDX-License-Identifier: Apache-2.0

// Makes the core of a domain with the strategy that was asked for.
#include "pollset/core/poll_core.hpp"
#include "pollset/strategies/default_strategy.hpp"

#include <eddy/base/error.hpp>

#include <string>

namespace eddy {

poll_domain::poll_domain(poll_domain_options options)
    : core_(std::make_unique<detail::poll_core>(options)) {
    const poll_strategy asked = options.strategy == poll_strategy::automatic
                                    ? detail::default_strategy()
                                    : options.strategy;
    if (auto error = core_->open(asked)) {
        throw std::system_error(error, std::string("poll_domain: the strategy ") +
                                           to_string(asked) + " cannot be used");
    }
}

poll_domain::~poll_domain() = default;

poll_domain& poll_domain::shared() {
    // Not destroyed: pollsets with static lifetime may be in it.
    static auto* const instance = new poll_domain();
    return *instance;
}

poll_strategy poll_domain::strategy() const noexcept { return core_->kind(); }
poll_counters poll_domain::counters() const noexcept { return core_->counters(); }

const char* to_string(poll_strategy s) noexcept {
    switch (s) {
        case poll_strategy::automatic:
            return "automatic";
        case poll_strategy::domain:
            return "domain";
        case poll_strategy::epoll1:
            return "epoll1";
        case poll_strategy::epollex:
            return "epollex";
        case poll_strategy::poll:
            return "poll";
    }
    return "unknown";
}

}  // namespace eddy
