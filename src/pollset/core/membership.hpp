// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/interest.hpp>
#include <eddy/pollset/detail/work_item.hpp>

#include <cstdint>

namespace eddy {
class poll_handle;
class pollset;
}  // namespace eddy

namespace eddy::detail {

class station;

/// That a handle is in a pollset. Queued there while the handle has closures due.
struct membership : work_item {
    membership(poll_handle& h, pollset& s, priority_level priority) noexcept
        : work_item(kind::membership, priority), handle(&h), set(&s) {}

    poll_handle* handle;
    pollset* set;
    membership* next_of_handle = nullptr;
    membership* next_of_set = nullptr;
    membership* prev_of_set = nullptr;
    interest told = interest::none;  ///< to the poller of the pollset's own station, if it has one
    // Why. With the last reason it ends.
    bool added = false;       ///< by pollset::add
    bool by_sets = false;     ///< some way through pollset_sets leads here
    bool for_timers = false;  ///< the timerfd, where timers are; stays with the pollset

    bool wanted() const noexcept { return added || by_sets || for_timers; }
};

}  // namespace eddy::detail
