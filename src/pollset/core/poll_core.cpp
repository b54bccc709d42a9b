// SPDX-License-Identifier: Apache-2.0

// Makes the core of a domain with its strategy, and heeds priorities.
#include "pollset/core/poll_core.hpp"

#include "kernel/fork_mark.hpp"

#include <eddy/base/error.hpp>

#include <algorithm>

namespace eddy::detail {

poll_core::poll_core(const poll_domain_options& options) noexcept
    : executor_(options.executor),
      process_mark_(kernel::process_mark()),
      mark_now_(kernel::process_mark_cell()),
      look_max_(std::clamp<std::size_t>(options.look_max, 1, look_limit)) {}

poll_core::~poll_core() {
    EDDY_ASSERT(forked() || all_sets_.empty(), "a poll_domain is destroyed before its sets");
}

std::error_code poll_core::open(poll_strategy kind) noexcept {
    switch (kind) {
        case poll_strategy::domain:
            return made_by(make_domain_strategy);
        case poll_strategy::epoll1:
            return made_by(make_epoll1_strategy);
        case poll_strategy::epollex:
            return made_by(make_epollex_strategy);
        case poll_strategy::poll:
            return made_by(make_poll_strategy);
        case poll_strategy::automatic:
            break;
    }
    std::error_code error;
    for (strategy_maker* const make :
         {make_domain_strategy, make_epoll1_strategy, make_poll_strategy}) {
        error = made_by(make);
        if (error != errc::strategy_denied) {
            break;
        }
    }
    return error;
}

std::error_code poll_core::made_by(strategy_maker* make) noexcept {
    const std::error_code error = make(*this, strategy_);
    if (!error) {
        room_.store(strategy_->traits.events_max, std::memory_order_relaxed);
    }
    for (const std::errc refusal :
         {std::errc::function_not_supported, std::errc::operation_not_permitted,
          std::errc::permission_denied, std::errc::invalid_argument}) {
        if (error == refusal) {
            return errc::strategy_denied;
        }
    }
    return error;
}

void poll_core::heed(priority_level priority) noexcept {
    if (priority != default_priority) {
        // relaxed: no other data depends on these values, which count from the next waits on
        room_.store(std::min(look_max_, events_at_once), std::memory_order_relaxed);
        ranked_.store(look_max_ > events_at_once, std::memory_order_relaxed);
    }
}

poll_counters poll_core::counters() noexcept {
    return read_locked([&] { return counters_; });
}

}  // namespace eddy::detail
