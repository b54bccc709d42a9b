// SPDX-License-Identifier: Apache-2.0

// Inline bodies of the wait and of the path that most events take. A wait that has slept spoils the
// processor's prediction of returns, so that each enclosing return would be mispredicted.
#pragma once

#include "engine/readiness/readiness_engine.hpp"

#include <cstdint>
#include <span>

namespace eddy {

/// Makes the first operation of a direction runnable, if it waits.
inline void readiness_engine::wake_first(fd_slot& slot, io_list& list) noexcept {
    io_operation* const first = list.front();
    if (first != nullptr && first->phase_ == phase::waiting && !slot.backing_off) {
        make_runnable(*first);
    }
}

/// Takes an event, which most often says that there is data. A slot with `tells_of_data` has an fd,
/// since the registrations of released fds are removed before the wait.
[[gnu::always_inline]] inline void readiness_engine::take_event(const poll_event& event,
                                                                bool& woken) noexcept {
    fd_slot* const slot = table_.find(static_cast<int>(event.token & UINT32_MAX));
    const bool known = slot != nullptr && slot->generation == event.token >> 32;
    if (!known || event.ready != interest::readable || !slot->tells_of_data) [[unlikely]] {
        take_other_event(event, woken);
        return;
    }
    slot->error_told = false;
    slot->may_read = true;
    wake_first(*slot, slot->readers);
    if (!slot->waiters.empty()) {
        tell_waiters(*slot, interest::readable);
    }
}

inline io_result readiness_engine::wait_in_line(time_point until, bool& woken) noexcept {
    if (leaver_count_ != 0) {
        expel_leavers();
    }
    const bool sleeps = !feed(0) && until != time_point::min() && may_sleep();
    const time_point end = sleeps ? until : time_point::min();
    io_result found;
    if (epoll_ != nullptr) [[likely]] {
        found = epoll_->wait_for(end, epoll_events_);
        for (const epoll_event& event : std::span(epoll_events_).first(found.count())) {
            take_event(epoll_poller::told(event), woken);
        }
    } else {
        found = wait_in_poller(end, woken);
    }
    static_cast<void>(feed(0));
    return found;
}

}  // namespace eddy
