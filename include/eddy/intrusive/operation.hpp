// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/assert.hpp>

#include <atomic>
#include <cstdint>

namespace eddy {

/// Urgency: 0 runs first, 63 last. Operations of one priority run in order of arrival.
using priority_level = std::uint8_t;
inline constexpr priority_level priority_count = 64;
inline constexpr priority_level default_priority = 32;

/// Tells the loop what to do with a node taken from the inbox or from the ready queue.
enum class node_kind : std::uint8_t {
    entry,          ///< run its callback
    timer,          ///< run what is due
    local_timer,    ///< run what is due
    io,             ///< perform it or deliver its result; in the inbox: start it
    io_stop,        ///< another thread asks an I/O operation to stop
    timer_command,  ///< another thread set, moved or cancelled a timer
    stop_command,   ///< another thread asked the loop to stop
    io_returned,    ///< an executor has performed a blocking call
    lease,          ///< return a buffer to its pool, which has an inbox of its own
};

/// A node that travels through the inbox.
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

/// One thing that will complete. The user owns the operation, inside an operation state, a
/// coroutine frame or another object; starting it allocates nothing.
///
/// Lifetime: must not move until its completion has been called. The completion may destroy it.
class operation : public queue_node {
public:
    priority_level priority() const noexcept { return priority_; }

protected:
    constexpr explicit operation(node_kind kind) noexcept : queue_node(kind) {}
    ~operation() = default;

    // Flags of entries and timers. They stand here because they fit into padding.
    bool after_poll_ = false;    ///< an entry: runs after the kernel was polled
    bool cancelling_ = false;    ///< a timer: on_cancel is still to come
    bool system_clock_ = false;  ///< a timer: runs on the system clock
    bool is_command_ = false;    ///< an entry: internal work, which ageing does not count
    operation* prev_ = nullptr;

    friend class ageing;
    friend class operation_list;
    friend class ready_queue;
};

}  // namespace eddy
