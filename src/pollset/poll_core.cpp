#include "pollset/poll_core.hpp"

#include "kernel/fork_mark.hpp"

#include <eddy/base/error.hpp>

namespace eddy::detail {

poll_core::poll_core(closure_executor* executor) noexcept
    : executor_(executor), process_mark_(kernel::process_mark()) {}

poll_core::~poll_core() {
    EDDY_ASSERT(forked() || all_sets_.empty(), "a poll_domain is destroyed before its sets");
}

std::error_code poll_core::open(poll_strategy kind) noexcept {
    switch (kind) {
        case poll_strategy::domain:
            return make_domain_strategy(*this, strategy_);
        case poll_strategy::automatic:
            break;
        case poll_strategy::epoll1:
        case poll_strategy::epollex:
        case poll_strategy::poll:
            return std::make_error_code(std::errc::function_not_supported);
    }
    return make_domain_strategy(*this, strategy_);
}

bool poll_core::forked() const noexcept { return process_mark_ != kernel::process_mark(); }

poll_counters poll_core::counters() noexcept {
    if (forked()) {
        return counters_;
    }
    const core_lock lock(*this);
    return counters_;
}

}  // namespace eddy::detail
