// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/base/interest.hpp>
#include <eddy/base/unique_fd.hpp>
#include <eddy/intrusive/operation.hpp>
#include <eddy/pollset/closure.hpp>
#include <eddy/pollset/detail/closure_list.hpp>
#include <eddy/pollset/detail/poll_word.hpp>
#include <eddy/pollset/poll_domain.hpp>

#include <array>
#include <cstdint>
#include <system_error>
#include <vector>

namespace eddy {

class pollset_set;

namespace detail {
struct membership;
class station;
}  // namespace detail

enum class poll_event_kind : std::uint8_t { read, write, error };

struct poll_handle_options {
    /// Ranks the handle's closures among all that are due in the pollset: 0 to 63, lower first. The
    /// order is strict with every strategy: a closure waits while anything more urgent is due. An
    /// event is due when a worker has looked at the kernel. One look takes all that is ready, up to
    /// poll_domain_options::look_max. Workers look when nothing is due, and after 64 closures at
    /// the latest; an idle worker of the pollset waits in the kernel and sees an event at once. A
    /// worker that was in the kernel when the first handle with a priority joined takes all that is
    /// ready only in its next look. With an executor, priorities mean nothing.
    priority_level priority = default_priority;
};

/// An fd whose readiness is reported to closures, on the threads that work on its pollsets.
///
/// Each kind of event has a word that says: nothing, latched (it happened while no closure waited),
/// a closure waits, or shut down.
///
/// Thread: any, except destruction. Lifetime: must stay where it is until the closure of orphan()
/// or release() was called, which may destroy the handle. A handle that was never in a pollset or
/// set may be destroyed without either.
class EDDY_API poll_handle {
public:
    poll_handle(poll_domain& domain, unique_fd fd, poll_handle_options options = {}) noexcept;
    poll_handle(const poll_handle&) = delete;
    poll_handle& operator=(const poll_handle&) = delete;
    ~poll_handle();

    /// The fd, or -1 after release() and when an orphan has been closed.
    int fd() const noexcept;

    /// Calls `done` once, without an error, when it may be possible to read; an event since the
    /// last call counts, and makes `done` due at once. `done` may find nothing to read, since the
    /// kernel can report one event to two threads. After shutdown() `done` gets its error, after
    /// orphan() `operation_canceled`. Hang-up and errors of the descriptor make both directions
    /// ready; notify_on_error() is for errors alone (the error queue, for example), with the
    /// strategy `poll` for a hang-up too. A closure that arms itself may be called by another
    /// thread before it has returned.
    /// Errors: `connection_already_in_progress` if `done` waits already, or another closure waits
    /// for that event (it waits on); `errc::forked`; the kernel's error.
    std::error_code notify_on_read(closure& done) noexcept;
    /// Calls `done` once when it may be possible to write. See notify_on_read().
    std::error_code notify_on_write(closure& done) noexcept;
    /// Calls `done` once when the descriptor has an error. See notify_on_read().
    std::error_code notify_on_error(closure& done) noexcept;
    /// Calls `done` once for an event of `kind`. See notify_on_read().
    std::error_code notify_on(poll_event_kind kind, closure& done) noexcept;

    /// Takes a wait back. Returns true if `done` will not be called, false if it does not wait:
    /// because it was called, is being called, or is about to be.
    bool cancel(closure& done) noexcept;

    /// Acts like an event: for reading or writing that was not done to the end.
    void make_ready(poll_event_kind kind) noexcept;

    /// Ends all current and later waits with `why`. Only the first call counts.
    void shutdown(std::error_code why) noexcept;
    bool is_shut_down() const noexcept;

    /// Leaves every pollset and set, ends all waits with `operation_canceled`, and closes the fd.
    /// Calls `done`, without an error, when no thread can touch the handle any more, perhaps inside
    /// this call. May be called once.
    void orphan(closure& done) noexcept;
    /// Ends the handle as orphan() does, but returns the fd, still open.
    [[nodiscard]] unique_fd release(closure& done) noexcept;

private:
    poll_handle(detail::poll_core& core, unique_fd fd, poll_handle_options options) noexcept;

    detail::poll_core* core_;
    unique_fd fd_;
    priority_level priority_;
    bool shut_down_ = false;
    bool orphaned_ = false;
    bool stale_ = false;                    ///< its pollsets are to be worked out again
    bool in_slot_ = false;                  ///< has the slot of its fd number
    interest registered_ = interest::none;  ///< events that the kernel was asked for
    std::uint32_t generation_ = 0;          ///< of its slot
    std::uint32_t calls_ = 0;               ///< closures that are being called
    closure* on_done_ = nullptr;
    detail::closure_list due_;                   ///< closures to call, in this order
    detail::membership* memberships_ = nullptr;  ///< one per pollset that holds it
    std::array<detail::poll_word, 3> words_;
    std::vector<pollset_set*> bags_;  ///< sets that hold it
    poll_handle* next_stale_ = nullptr;
    std::error_code shutdown_error_;
    detail::station* station_ = nullptr;  ///< for this handle alone, if the strategy has such

    friend class detail::poll_core;
    friend class pollset_watch;
};

}  // namespace eddy
