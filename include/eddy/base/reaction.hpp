// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <cstdint>

namespace eddy {

/// A callback's decision about its watch. The watch is disarmed while its callback runs. The
/// reaction overrides anything that the callback did to the armed state, except that a removal
/// stands: after remove() the watch is not armed.
enum class reaction : std::uint8_t {
    /// The callback has generated the edge: it did everything reported to it, until EAGAIN. The
    /// watch is armed for the next event, without a system call on epoll. After a hang-up, and at
    /// the end of a stream, no edge can be generated: the callback is called repeatedly (each time
    /// no later than after the next poll of the kernel) until that condition ends or the watch is
    /// disarmed or removed. A pollset_watch differs: see its documentation.
    rearm,
    /// The callback did part of the work. It is called again while I/O is still possible: after
    /// everything ready now with its priority, and before everything less urgent. Otherwise the
    /// watch is armed. The library checks with one system call on every engine, after the callback
    /// has returned. A pollset_watch is called without that check.
    again,
    /// The callback is not called again until arm().
    disarm,
    /// The watch is removed. on_removed follows and is the last call.
    remove,
    /// The callback has destroyed the watch, or the handle that owned it. The library touches
    /// neither.
    destroyed,
    /// The callback is called again with its ready set unchanged, after everything that is ready
    /// now with its priority. The kernel is not asked.
    requeue,
    /// Calls inside the callback decide: the watch is armed if arm() came last, else disarmed.
    leave,
};

EDDY_API const char* to_string(reaction r) noexcept;

}  // namespace eddy
