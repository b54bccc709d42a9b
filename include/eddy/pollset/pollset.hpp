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

/// The reason why `work` returned.
enum class work_end : std::uint8_t {
    ran,        ///< closures were run, or handed to the executor
    kicked,     ///< this worker, or any worker, was asked to return
    timed_out,  ///< the deadline passed
    shut_down,  ///< the pollset is being shut down
};

EDDY_API const char* to_string(work_end e) noexcept;

namespace detail {

/// A reference to the caller's lock, without its type.
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

/// A set of descriptors that any number of the application's threads serve, each for as long as it
/// is inside `work`. No thread is created.
///
/// Thread: any, except destruction. Lifetime: destroyed when no thread is inside; handles that are
/// still in it leave then.
class EDDY_API pollset {
public:
    /// Throws std::system_error if the strategy gets no fd or memory, or the process has forked.
    explicit pollset(poll_domain& domain = poll_domain::shared());
    pollset(const pollset&) = delete;
    pollset& operator=(const pollset&) = delete;
    ~pollset();

    /// Makes the threads that work here run the closures of `handle`, from now on.
    /// Errors: `file_exists` if the handle is here already, or if another handle has its fd;
    /// `operation_not_permitted` for files that epoll refuses; `errc::signal_needs_loop` for a
    /// signalfd; `bad_file_descriptor`; `invalid_argument` if the handle is of another domain;
    /// `operation_canceled` if it was orphaned, or the pollset is shut down; `not_enough_memory`;
    /// `errc::forked`; the kernel's error.
    std::error_code add(poll_handle& handle) noexcept;
    /// Undoes add(). `no_such_file_or_directory` if it was not added here (it may come by a
    /// pollset_set).
    std::error_code remove(poll_handle& handle) noexcept;

    /// Waits for events until `until`, and runs the closures that they make due. `lock` is held on
    /// entry and on return, and released in between. `worker` is inside before `lock` is released,
    /// so a thread that kicks it under that lock cannot miss it. An exception of a closure leaves
    /// with the lock held. A thread that is cancelled inside (pthread_cancel) ends when it is
    /// outside. Errors: `errc::forked`; `invalid_argument` if `worker` is inside already; the
    /// kernel's error. An error that may pass (ENOMEM) is returned at once too, unlike in a loop:
    /// only the threads of a pollset know what else they have to do, and for how long to retry.
    template <class Lock>
    result<work_end> work(Lock& lock, pollset_worker& worker, time_point until) {
        return work(detail::lent_lock::of(lock), worker, until);
    }
    /// Runs the closures of events until `until`, as work() does, for callers without a lock.
    result<work_end> work(time_point until = never) {
        pollset_worker worker;
        return work(detail::lent_lock(), worker, until);
    }
    /// Runs the closures that are due, without waiting.
    result<work_end> try_work() { return work(time_point::min()); }

    /// Makes `worker` return. Costs one or two writes of an eventfd if it is in the kernel, a futex
    /// call if it waits for its turn, and nothing if it runs. If it is not inside, returns
    /// `no_such_process` and does nothing.
    std::error_code kick(pollset_worker& worker) noexcept;
    /// Makes one worker return, or the next one that comes if no worker is inside. Does nothing if
    /// all workers inside were kicked already, and have yet to return.
    void kick_any() noexcept;
    /// Makes up to `count` workers that are inside now return. Returns how many.
    std::size_t wake(std::size_t count) noexcept;

    /// Makes all workers return, and all later calls return at once. Calls `done` when no worker is
    /// inside and the handles have left, perhaps inside this call. May be called once.
    void shutdown(closure& done) noexcept;

private:
    result<work_end> work(const detail::lent_lock& lock, pollset_worker& worker, time_point until);

    detail::poll_core* core_;
    pollset_worker* workers_ = nullptr;
    std::uint32_t idle_ = 0;              ///< workers that wait or poll
    std::uint32_t called_ = 0;            ///< sleepers that were called and are not back yet
    detail::station* station_ = nullptr;  ///< where its workers poll
    closure* on_shut_down_ = nullptr;
    bool shut_down_ = false;
    bool kick_kept_ = false;  ///< kick_any() found nobody inside
    bool stays_ = false;      ///< the strategy does not move it any more
    bool to_tell_ = false;    ///< in the core's list of sets to call a worker for
    ready_queue ready_;
    detail::pace pace_;
    detail::membership* memberships_ = nullptr;
    unsigned neighbourhood_ = 0;  ///< the core where its first worker came in
    std::size_t timers_ = 0;
    pollset* next_to_tell_ = nullptr;
    std::vector<pollset_set*> bags_;  ///< sets that hold it
    std::uint64_t walk_ = 0;          ///< number of the last walk over the sets that came by

    friend class detail::poll_core;
    friend class detail::station;
    friend class pollset_set;
};

}  // namespace eddy
