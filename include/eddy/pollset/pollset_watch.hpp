// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/base/interest.hpp>
#include <eddy/base/reaction.hpp>
#include <eddy/base/unique_fd.hpp>
#include <eddy/pollset/closure.hpp>
#include <eddy/pollset/poll_handle.hpp>
#include <eddy/pollset/pollset.hpp>

#include <array>
#include <mutex>

namespace eddy {

struct pollset_watch_options {
    priority_level priority = default_priority;
    /// Lets the handler run on several threads at once: for acceptors, and handlers with a lock of
    /// their own. The watch stays armed while the handler runs.
    bool concurrent = false;
};

/// Watches a descriptor in a pollset: calls its handler for each event, on whichever worker comes
/// first, until it is removed. Follows the re-arm protocol of `fd_watch`, for many threads.
///
///     disarmed --arm()--> armed --event--> its handler --reaction--> ...
///     any --remove()--> removing --no thread is inside any more--> on_removed
///
/// The handler never runs on two threads at once, unless the watch is `concurrent`. The watch is
/// disarmed while the handler runs; an event that comes then is kept until it is armed again. After
/// a hang-up or at the end of a stream, it depends on the strategy whether `reaction::rearm` calls
/// the handler again: disarm or remove the watch there.
///
/// Sockets, pipes, pidfds (a child has ended), timerfds and other descriptors can be watched.
/// Signalfds cannot: errc::signal_needs_loop.
///
/// Thread: any, inside handlers and outside. Lifetime: until on_removed, which may destroy it.
class EDDY_API pollset_watch {
public:
    pollset_watch(const pollset_watch&) = delete;
    pollset_watch& operator=(const pollset_watch&) = delete;
    virtual ~pollset_watch();

    void arm() noexcept { rearm(true); }
    /// Arms the watch. If `exhausted`, reading or writing was done to the end (EAGAIN), so the next
    /// event comes from the kernel; otherwise the handler is queued again without a system call.
    /// Inside the handler, this takes effect when the handler returns `reaction::leave`.
    void rearm(bool exhausted) noexcept;
    /// Disarms the watch. Inside the handler: no call follows until the watch is armed again.
    /// Elsewhere: a call may be in progress, or about to begin.
    void disarm() noexcept;
    /// Removes the watch: calls on_removed once when no thread is inside, perhaps in this call.
    void remove() noexcept;

    int fd() const noexcept { return handle_.fd(); }

protected:
    /// Does everything that can fail. Throws std::system_error with the errors of pollset::add.
    /// `wanted` is readable, writable, or both. The watch begins disarmed, since no worker may call
    /// the handler of an object that is still being constructed.
    pollset_watch(pollset& set, unique_fd fd, interest wanted, pollset_watch_options options = {});

    /// Handles an event. `ready` says what is, or was, possible. Returning `reaction::destroyed` is
    /// misuse: on_removed is the place to destroy the watch.
    virtual reaction on_ready(interest ready) = 0;
    /// Called when the fd has just been closed. May destroy the watch.
    virtual void on_removed() noexcept {}

private:
    class direction final : public closure {
    public:
        direction(pollset_watch& owner, poll_event_kind kind) noexcept
            : closure(
                  [](closure& self, std::error_code) { static_cast<direction&>(self).happened(); }),
              owner_(owner),
              kind_(kind) {}

        bool wanted = false;
        bool waiting = false;  ///< in the handle's word, or due
        poll_event_kind kind() const noexcept { return kind_; }

    private:
        void happened() { owner_.happened(*this); }

        pollset_watch& owner_;
        poll_event_kind kind_;
    };
    class removal final : public closure {
    public:
        explicit removal(pollset_watch& owner) noexcept
            : closure([](closure& self, std::error_code) {
                  static_cast<removal&>(self).owner_.on_removed();
              }),
              owner_(owner) {}

    private:
        pollset_watch& owner_;
    };
    class call;

    bool forked() const noexcept;
    void happened(direction& d);
    /// Starts the waits that are missing. `by` is the worker whose closure ends with this call.
    void wait(pollset_worker* by = nullptr) noexcept;
    void make_ready() noexcept;
    void settle(reaction r, direction& d) noexcept;

    pollset& set_;  ///< only compared: it may be gone before the watch is
    std::mutex mutex_;
    poll_handle handle_;
    removal removal_;
    std::array<direction, 2> directions_;
    bool concurrent_;
    bool armed_ = false;
    bool removing_ = false;
    unsigned calls_ = 0;
};

}  // namespace eddy
