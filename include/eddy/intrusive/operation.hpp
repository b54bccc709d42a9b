// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/assert.hpp>

#include <atomic>
#include <cstdint>

namespace eddy {

/// 0 runs first, 63 last; first come, first served within one.
using priority_level = std::uint8_t;
inline constexpr priority_level priority_count = 64;
inline constexpr priority_level default_priority = 32;

/// What the loop does with a node when it takes it from the inbox or from the ready queue.
enum class node_kind : std::uint8_t {
    entry,          ///< run its callback
    timer,          ///< it is due
    local_timer,    ///< it is due
    io,             ///< perform it, or deliver its result; in the inbox: start it
    io_stop,        ///< another thread asks an I/O operation to stop
    timer_command,  ///< another thread set, moved or cancelled a timer
    stop_command,   ///< another thread stopped the loop
    io_returned,    ///< an executor has performed a blocking call
    lease,          ///< a buffer that comes back to its pool, which has an inbox of its own
};

/// What travels through the inbox.
class queue_node {
public:
    queue_node(const queue_node&) = delete;
    queue_node& operator=(const queue_node&) = delete;

    node_kind kind() const noexcept { return kind_; }

protected:
    constexpr explicit queue_node(node_kind kind) noexcept : kind_(kind) {}
    ~queue_node() = default;

    queue_node* next_ = nullptr;
    node_kind kind_;
    priority_level priority_ = default_priority;
    bool queued_ = false;  ///< in the ready queue or another of the loop's lists
    std::atomic<std::uint8_t> state_{0};

    friend class inbox;
    friend class operation_list;
    friend class ready_queue;
};

/// One thing that will complete. Its user owns it, inside an operation state, a coroutine frame or
/// an object of its own; starting one allocates nothing.
///
/// Lifetime: must stay where it is until its completion has been called, and may be destroyed from
/// inside it.
class operation : public queue_node {
public:
    priority_level priority() const noexcept { return priority_; }

protected:
    constexpr explicit operation(node_kind kind) noexcept : queue_node(kind) {}
    ~operation() = default;

    // Of entries and timers, but here, where they take no room.
    bool after_poll_ = false;    ///< an entry: it runs after the kernel was asked
    bool cancelling_ = false;    ///< a timer: its on_cancel is still to come
    bool system_clock_ = false;  ///< a timer
    bool is_command_ = false;    ///< an entry: work of the library's own, which makes nobody wait
    operation* prev_ = nullptr;

    friend class ageing;
    friend class operation_list;
    friend class ready_queue;
};

}  // namespace eddy
