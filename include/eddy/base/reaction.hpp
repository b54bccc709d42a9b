// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <cstdint>

namespace eddy {

/// What becomes of a watch when its callback returns. A watch is disarmed while its callback runs;
/// the reaction decides last, whatever the callback did to the armed state, except that a removal
/// stands: after remove() the watch is not armed any more.
enum class reaction : std::uint8_t {
    /// The callback has generated the edge: it has done all that was possible (until EAGAIN) of
    /// what it was told. Armed for what happens next. Costs no system call on epoll. Behind a
    /// hang-up or at the end of a stream there is no edge to generate: it is called again for as
    /// long as that lasts, or until it is disarmed or removed, at the latest after the next look at
    /// the kernel. (Not so a pollset_watch: see there.)
    rearm,
    /// A part was done. Called again while I/O is still possible, behind what is ready now with its
    /// priority and before everything less urgent; else armed. The library looks when the callback
    /// has returned: one system call on every engine. (A pollset_watch is called without a look.)
    again,
    /// Not called again until arm().
    disarm,
    /// Removed: on_removed follows, and is the last call.
    remove,
    /// The callback has destroyed the watch, or the handle that owned it. Nothing of it is touched.
    destroyed,
    /// Called again with the same ready set, behind what is ready now with its priority, without
    /// asking the kernel.
    requeue,
    /// As the calls inside the callback made it: armed if arm() came last, else disarmed.
    leave,
};

EDDY_API const char* to_string(reaction r) noexcept;

}  // namespace eddy
