// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/intrusive/timer_heap.hpp>

#include <memory>
#include <new>

namespace eddy {

class loop;

/// The heap of one loop and one clock, with a place for each timer. The room lives as long as the
/// loop or any of these timers, since an unarmed timer may outlive the loop.
class timer_room {
public:
    struct leaver {
        void operator()(timer_room* room) const noexcept { room->leave(); }
    };
    /// Makes a room in which the returned owner has a place. Throws std::bad_alloc.
    static std::unique_ptr<timer_room, leaver> make(loop& home) {
        auto made = std::make_unique<timer_room>(home);
        made->enter();
        return std::unique_ptr<timer_room, leaver>(made.release());
    }

    explicit timer_room(loop& home) noexcept : home_(home) {}

    /// Takes a place. Thread: any. Throws std::bad_alloc.
    void enter() {
        if (!heap.reserve()) {
            throw std::bad_alloc();
        }
    }
    /// Gives a place back. The last call destroys the room. Thread: any.
    void leave() noexcept {
        if (heap.unreserve()) {
            delete this;
        }
    }

    loop& home() const noexcept { return home_; }

    timer_heap heap;

private:
    loop& home_;
};

}  // namespace eddy
