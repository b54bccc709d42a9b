// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/sync/waiter.hpp>
#include <eddy/base/config.hpp>

namespace eddy::detail {

/// The state of an event, with its waiters.
class event_core : public wait_core {
public:
    explicit event_core(bool set) noexcept : set_(set) {}

    EDDY_API void set() noexcept;
    EDDY_API void reset() noexcept;
    EDDY_API bool is_set() const noexcept;

    EDDY_API bool enter(waiter& node, bool may_wait) noexcept;
    EDDY_API void stop(waiter& node) noexcept;
    EDDY_API void take_back(waiter& node) noexcept;

private:
    bool set_;
    wait_list waiting_;
};

}  // namespace eddy::detail
