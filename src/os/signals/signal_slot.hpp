// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/children/child_table.hpp"

#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/entry.hpp>
#include <eddy/os/signal_source.hpp>

namespace eddy {

/// One signal of a source: its signalfd, and the looks at it.
///
///     somebody waits --> look is posted, with the priority of the most urgent
///     look: a record is there --> it is delivered; look is posted again if others wait
///           none is there     --> ready waits until the signalfd is readable, then look is posted
///           nobody waits      --> ready is cancelled, so that it does not keep the loop going
///
/// While somebody waits, look is posted or ready is pending. Looking before waiting matters: epoll
/// judges a signalfd for the thread that polls, and a thread other than the loop's may have
/// consumed the readiness.
///
/// The signalfd of an ignored signal listens to nothing. Otherwise a blocked signal would be read
/// although it is ignored.
///
/// Child sources may read SIGCHLD (child_table): they keep it and tell the slot.
struct signal_source::slot {
    slot(signal_source& s, int n, bool is_ignored) noexcept
        : source(s),
          signum(n),
          ignored(is_ignored),
          ready(&on_ready),
          look(&on_look, &on_loop_ends) {
        ready.set_priority(0);  // `ready` runs no user code, `look` does
        ready.set_background(s.options_.background);
    }

    std::error_code open() noexcept;
    /// Posts a look, which runs at the latest when something of this priority runs.
    void look_at(priority_level priority) noexcept;
    bool in_use() const noexcept {
        return ready.pending() || look.posted() || (children != nullptr && children->in_use());
    }

    static void on_ready(io_operation& op) noexcept;
    static void on_look(entry& e) noexcept;
    static void on_loop_ends(entry& e) noexcept;
    void look_now() noexcept;
    void wait_until_ready() noexcept;
    void stop_waiting() noexcept;
    void end(std::error_code error, bool loop_ends) noexcept;
    static void on_child(void* s) noexcept;
    io_result read_record(signalfd_siginfo& out) noexcept;

    signal_source& source;
    int signum;
    bool ignored;
    descriptor fd;
    io_operation ready;
    entry look;
    bool canceling = false;  ///< `ready` was cancelled because nobody waited
    /// Only for SIGCHLD, which a child_source may have read.
    std::unique_ptr<detail::child_listener> children;
};

}  // namespace eddy
