#pragma once

#include <eddy/base/config.hpp>
#include <eddy/intrusive/operation.hpp>
#include <eddy/intrusive/timer_heap.hpp>
#include <eddy/loop/timer_room.hpp>

namespace eddy {

class loop;

/// What setting, disarming and pushing back look at, of every kind of timer. With many timers, each
/// cache line costs more than all the rest. It is in the heap or in the ready queue, never in both.
class timer_base : public operation {
public:
    loop& home() const noexcept { return room_->home(); }

    /// The following: the loop's thread, or before the timer is set.
    bool armed() const noexcept { return node_.armed() || queued_; }
    EDDY_API void set_priority(priority_level priority) noexcept;

protected:
    /// Takes a place in `room`. Throws std::bad_alloc.
    timer_base(node_kind kind, timer_owner owner, timer_room& room)
        : operation(kind), room_(&room) {
        node_.owner = owner;
        room.enter();
    }
    ~timer_base() { room_->leave(); }

private:
    timer_room* room_;
    timer_node node_;

    friend class loop;
    friend class system_timers;
    friend class timer;
};

}  // namespace eddy
