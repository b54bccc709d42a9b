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
    /// The handler may run on several threads at once: for acceptors, and handlers with a lock of
    /// their own. Stays armed while it runs.
    bool concurrent = false;
};

/// A descriptor of a pollset whose handler is called again and again, by whichever worker comes
/// first, until it is removed. The re-arm protocol of `fd_watch`, for many threads.
///
///     disarmed --arm()--> armed --event--> its handler --reaction--> ...
///     any --remove()--> removing --no thread is inside any more--> on_removed
///
/// The handler never runs on two threads at once, unless it was made `concurrent`. It is disarmed
/// while it runs; what happens meanwhile is kept until it is armed again. Behind a hang-up or at
/// the end of a stream, whether `reaction::rearm` calls it again depends on the strategy: disarm or
/// remove it.
///
/// Whatever is a descriptor can be watched: sockets, pipes, pidfds (a child has ended), timerfds.
/// Not signalfds: errc::signal_needs_loop.
///
/// Thread: any, inside handlers and outside. Lifetime: until on_removed has begun, from which it
/// may be destroyed.
class EDDY_API pollset_watch {
public:
    pollset_watch(const pollset_watch&) = delete;
    pollset_watch& operator=(const pollset_watch&) = delete;
    virtual ~pollset_watch();

    void arm() noexcept { rearm(true); }
    /// `exhausted`: reading or writing was done to the end (EAGAIN), so the next event comes from
    /// the kernel. Else it is queued again, without a call of the kernel. Inside the handler it
    /// takes effect when that returns with `reaction::leave`.
    void rearm(bool exhausted) noexcept;
    /// Inside the handler: it is not called until it is armed again. Elsewhere: a call may be in
    /// progress, or about to begin.
    void disarm() noexcept;
    /// on_removed is called once, when no thread is inside any more, perhaps inside this call.
    void remove() noexcept;

    int fd() const noexcept { return handle_.fd(); }

protected:
    /// Everything that could fail happens here. Throws std::system_error: what pollset::add says.
    /// `wanted`: readable, writable, or both. It begins disarmed: a worker must not call the
    /// handler of what is still being made.
    pollset_watch(pollset& set, unique_fd fd, interest wanted, pollset_watch_options options = {});

    /// What `ready` says is possible, or was. `reaction::destroyed` is misuse: see on_removed.
    virtual reaction on_ready(interest ready) = 0;
    /// The fd has just been closed.
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
    /// `by`: the worker at the end of whose closure this is.
    void wait(pollset_worker* by = nullptr) noexcept;
    void make_ready() noexcept;
    void settle(reaction r, direction& d) noexcept;

    pollset& set_;  ///< compared only: it may be gone before the watch is
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
