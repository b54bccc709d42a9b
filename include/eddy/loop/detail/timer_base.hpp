// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/base/detail/member.hpp>
#include <eddy/intrusive/operation.hpp>
#include <eddy/intrusive/timer_heap.hpp>
#include <eddy/loop/detail/timer_room.hpp>

namespace eddy {

class loop;

namespace detail {

/// The first half cache line of every timer: all that setting, disarming and pushing back read.
/// With many timers, each cache line costs more than all the rest.
struct timer_place {
    timer_place(timer_owner owner, timer_room& room) noexcept : room_(&room) {
        node_.owner = owner;
    }

    timer_room* room_;
    timer_node node_;
};

}  // namespace detail

/// Base of timer and local_timer. A timer is in the heap or in the ready queue, never in both.
class timer_base : protected detail::timer_place, public operation {
public:
    loop& home() const noexcept { return room_->home(); }

    /// True if the timer is set, or due. Thread: the loop's, or any before the first set.
    bool armed() const noexcept { return node_.armed() || queued_; }
    /// Precondition: `priority` is 0 to 63, and the timer is not due. Thread: as for armed().
    EDDY_API void set_priority(priority_level priority) noexcept;

protected:
    /// Takes a place in `room`. Throws std::bad_alloc.
    timer_base(node_kind kind, timer_owner owner, timer_room& room)
        : timer_place(owner, room), operation(kind) {
        room.enter();
    }
    ~timer_base() { room_->leave(); }

private:
    static timer_base& of(timer_node& node) noexcept {
        return static_cast<timer_base&>(detail::owner_of<&timer_place::node_>(node));
    }

    friend class loop;
    friend class system_timers;
    friend class timer;
};

}  // namespace eddy
