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

/// The membership of a handle in a pollset. It is queued there while the handle has closures due.
struct membership : work_item {
    membership(poll_handle& h, pollset& s, priority_level priority) noexcept
        : work_item(kind::membership, priority), handle(&h), set(&s) {}

    poll_handle* handle;
    pollset* set;
    membership* next_of_handle = nullptr;
    membership* next_of_set = nullptr;
    membership* prev_of_set = nullptr;
    interest told = interest::none;  ///< what the pollset's own poller watches for, if any
    // The reasons for the membership, which ends with the last one.
    bool added = false;       ///< by pollset::add
    bool by_sets = false;     ///< some way through pollset_sets leads here
    bool for_timers = false;  ///< it is the timerfd, and stays with the pollset

    bool wanted() const noexcept { return added || by_sets || for_timers; }
};

}  // namespace eddy::detail
