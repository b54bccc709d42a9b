// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>
#include <eddy/base/config.hpp>
#include <eddy/base/result.hpp>
#include <eddy/intrusive/ready_queue.hpp>
#include <eddy/pollset/closure.hpp>
#include <eddy/pollset/detail/pace.hpp>
#include <eddy/pollset/poll_domain.hpp>
#include <eddy/pollset/poll_handle.hpp>
#include <eddy/pollset/pollset_worker.hpp>

#include <cstddef>
#include <cstdint>
#include <system_error>
#include <vector>

namespace eddy {

class pollset_set;

/// Why `work` returned.
enum class work_end : std::uint8_t {
    ran,        ///< closures were run, or handed to the executor
    kicked,     ///< this worker, or any one, was to return
    timed_out,  ///< the deadline passed
    shut_down,  ///< the pollset is being shut down
};

EDDY_API const char* to_string(work_end e) noexcept;

namespace detail {

/// A caller's lock, whatever its type.
struct lent_lock {
    void* object = nullptr;
    void (*lock)(void*) = nullptr;
    void (*unlock)(void*) = nullptr;

    template <class Lock>
    static lent_lock of(Lock& l) noexcept {
        return {&l, [](void* o) { static_cast<Lock*>(o)->lock(); },
                [](void* o) { static_cast<Lock*>(o)->unlock(); }};
    }
};

}  // namespace detail

/// Descriptors that any number of the application's threads serve, each for as long as it lends
/// itself by `work`. No thread is created.
///
/// Thread: any, except destruction. Lifetime: destroyed when no thread is inside; handles that are
/// still in it leave.
class EDDY_API pollset {
public:
    /// Throws std::system_error if the strategy needs an fd for it and gets none.
    explicit pollset(poll_domain& domain = poll_domain::shared());
    pollset(const pollset&) = delete;
    pollset& operator=(const pollset&) = delete;
    ~pollset();

    /// Threads that work here run the closures of `handle` from now on.
    /// Errors: `file_exists` if it is here already, or if another handle has its fd;
    /// `operation_not_permitted` for what epoll refuses; `errc::signal_needs_loop` for a signalfd;
    /// `bad_file_descriptor`; `invalid_argument` if it is of another domain; `operation_canceled`
    /// if it was orphaned, or the pollset is shut down; `not_enough_memory`; `errc::forked`; what
    /// the kernel says.
    std::error_code add(poll_handle& handle) noexcept;
    /// `no_such_file_or_directory` if it was not added here (a pollset_set may still bring it).
    std::error_code remove(poll_handle& handle) noexcept;

    /// Waits for events until `until` and runs what they make due. `lock` is held on entry and
    /// on return, and free in between; `worker` is inside before it is freed, so that whoever kicks
    /// it under that lock cannot miss it. An exception of a closure leaves with the lock held.
    /// A thread that is cancelled inside (pthread_cancel) goes on, and ends when it is outside.
    /// Errors: `errc::forked`, what the kernel says. `invalid_argument`: `worker` is inside
    /// already. An error of the kernel that may pass (ENOMEM) is returned at once too: unlike a
    /// loop, a pollset is work that its threads come to and leave, and only they know what else
    /// they have to do, and for how long it is worth while to come again.
    template <class Lock>
    result<work_end> work(Lock& lock, pollset_worker& worker, time_point until) {
        return work(detail::lent_lock::of(lock), worker, until);
    }
    /// The same for those who have no lock.
    result<work_end> work(time_point until = never) {
        pollset_worker worker;
        return work(detail::lent_lock(), worker, until);
    }
    /// Runs what is due, without waiting.
    result<work_end> try_work() { return work(time_point::min()); }

    /// Makes that worker return. One in the kernel costs a write of an eventfd or two, one that
    /// waits for its turn a futex call, one that runs something nothing. `no_such_process` if it is
    /// not inside: nothing happens.
    std::error_code kick(pollset_worker& worker) noexcept;
    /// Makes one worker return; if none is inside, the next one that comes. If all that are inside
    /// were kicked already, nothing more: they have not returned yet.
    void kick_any() noexcept;
    /// Makes up to `count` workers return that are inside now; returns how many.
    std::size_t wake(std::size_t count) noexcept;

    /// Makes all workers return, and all later calls at once; when none is inside, handles have
    /// left and `done` is called, perhaps inside this call. Once.
    void shutdown(closure& done) noexcept;

private:
    result<work_end> work(const detail::lent_lock& lock, pollset_worker& worker, time_point until);

    detail::poll_core* core_;
    pollset_worker* workers_ = nullptr;
    std::uint32_t idle_ = 0;    ///< of these, those that wait or poll
    std::uint32_t called_ = 0;  ///< of these, those that waited, were called and are not back yet
    detail::station* station_ = nullptr;  ///< where its workers poll
    closure* on_shut_down_ = nullptr;
    bool shut_down_ = false;
    bool kick_kept_ = false;  ///< nobody was inside when it was kicked
    bool stays_ = false;      ///< where it is: the strategy does not move it any more
    bool to_tell_ = false;    ///< in the list of those in which something was shown
    ready_queue ready_;
    detail::pace pace_;
    detail::membership* memberships_ = nullptr;
    unsigned neighbourhood_ = 0;  ///< the core where its first worker came in
    std::size_t timers_ = 0;
    pollset* next_to_tell_ = nullptr;
    std::vector<pollset_set*> bags_;  ///< that it is in
    std::uint64_t walk_ = 0;          ///< the last walk over the sets that came by

    friend class detail::poll_core;
    friend class detail::station;
    friend class pollset_set;
};

}  // namespace eddy
