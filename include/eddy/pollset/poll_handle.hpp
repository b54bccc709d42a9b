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
    /// Ranks its closures among all that are due in the pollset: 0 to 63, lower first. Strict, with
    /// every strategy: while something more urgent is always due, it waits.
    /// An event is due when a worker has looked at the kernel. One look takes all that is ready, up
    /// to poll_domain_options::look_max. Workers look when nothing is due, and after 64 closures at
    /// the latest; while a worker of the pollset is idle, it waits in the kernel and sees an event
    /// at once. A worker that was in the kernel when the first handle with a priority joined takes
    /// all that is ready only in its next look. With an executor, priorities mean nothing.
    priority_level priority = default_priority;
};

/// An fd whose readiness is told to closures, by the threads that work on the pollsets it is in.
///
/// For each kind of event there is a word: nothing, latched (it happened while nobody waited), a
/// closure that waits, or shut down.
///
/// Thread: any, except destruction. Lifetime: stays where it is until the closure of orphan() or
/// release() was called, and may be destroyed from inside it; a handle that was never in a pollset
/// or set may be destroyed without.
class EDDY_API poll_handle {
public:
    poll_handle(poll_domain& domain, unique_fd fd, poll_handle_options options = {}) noexcept;
    poll_handle(const poll_handle&) = delete;
    poll_handle& operator=(const poll_handle&) = delete;
    ~poll_handle();

    /// -1 after release(), and when an orphan has been closed.
    int fd() const noexcept;

    /// Calls `done` once: without an error when it may be possible to read (at once if it happened
    /// since the last call; it may find nothing, since the kernel can tell two threads of one
    /// event), or with the error of shutdown(), or with `operation_canceled` after
    /// orphan(). Hang-up and errors of the descriptor make both directions ready; `on_error` is for
    /// errors alone (the error queue, for example), with the strategy `poll` for a hang-up too.
    /// A closure that arms itself may be called by another thread before it has returned.
    /// Errors: `connection_already_in_progress` if one waits for that event already: it waits on.
    /// `errc::forked`.
    std::error_code notify_on_read(closure& done) noexcept;
    std::error_code notify_on_write(closure& done) noexcept;
    std::error_code notify_on_error(closure& done) noexcept;
    std::error_code notify_on(poll_event_kind kind, closure& done) noexcept;

    /// Takes a wait back. True: `done` will not be called. False: it does not wait, because it was
    /// called, is being called, or is about to be.
    bool cancel(closure& done) noexcept;

    /// The same as an event: for what was read or written, but not to the end.
    void make_ready(poll_event_kind kind) noexcept;

    /// Ends the waits there are, and all later ones, with `why`. The first call decides.
    void shutdown(std::error_code why) noexcept;
    bool is_shut_down() const noexcept;

    /// Leaves every pollset and set, ends all waits with `operation_canceled`, closes the fd, and
    /// then calls `done` (without an error): when no thread can touch the handle any more, perhaps
    /// inside this call. Once.
    void orphan(closure& done) noexcept;
    /// The same, but the fd goes back to the caller instead, still open.
    [[nodiscard]] unique_fd release(closure& done) noexcept;

private:
    poll_handle(detail::poll_core& core, unique_fd fd, poll_handle_options options) noexcept;

    detail::poll_core* core_;
    unique_fd fd_;
    priority_level priority_;
    bool shut_down_ = false;
    bool orphaned_ = false;
    bool stale_ = false;                    ///< its pollsets are about to be looked at anew
    bool in_slot_ = false;                  ///< has the slot of its fd number
    interest registered_ = interest::none;  ///< what the strategy has told the kernel
    std::uint32_t generation_ = 0;          ///< of its slot
    std::uint32_t calls_ = 0;               ///< closures that are being called
    closure* on_done_ = nullptr;
    detail::closure_list due_;                   ///< to be called, in this order
    detail::membership* memberships_ = nullptr;  ///< one for each pollset it is in
    std::array<detail::poll_word, 3> words_;
    std::vector<pollset_set*> bags_;  ///< that it is in
    poll_handle* next_stale_ = nullptr;
    std::error_code shutdown_error_;
    detail::station* station_ = nullptr;  ///< for it alone, if the strategy has such

    friend class detail::poll_core;
    friend class pollset_watch;
};

}  // namespace eddy
