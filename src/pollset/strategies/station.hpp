// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "poller/epoll_poller.hpp"

#include <eddy/pollset/pollset_worker.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

namespace eddy::detail {

/// A list of sleeping workers, in the order in which they came.
class worker_list {
public:
    bool empty() const noexcept { return head_ == nullptr; }
    pollset_worker* front() const noexcept { return head_; }
    static pollset_worker* next(const pollset_worker& w) noexcept { return w.next_waiting_; }
    void push_back(pollset_worker& w) noexcept;
    void erase(pollset_worker& w) noexcept;

private:
    pollset_worker* head_ = nullptr;
    pollset_worker* tail_ = nullptr;
};

/// A poller, the worker that waits in it, perhaps a deputy that waits in it too, and the workers
/// that sleep until their turn. If there is a deputy, a worker that comes out with an event leaves
/// the poller to it and wakes nobody.
/// Lock: the domain's, for everything but the waits themselves.
class alignas(64) station {
public:
    explicit station(std::unique_ptr<eddy::poller> p) noexcept
        : poller_(std::move(p)), epoll_(dynamic_cast<epoll_poller*>(poller_.get())) {}
    virtual ~station() = default;

    using poller_maker = std::error_code(std::unique_ptr<eddy::poller>& out) noexcept;
    template <class Made = station, class... Args>
    static std::error_code make(poller_maker* make_poller, std::unique_ptr<station>& out,
                                Args&&... args) noexcept {
        std::unique_ptr<eddy::poller> made;
        if (auto error = make_poller(made)) {
            return error;
        }
        out.reset(new (std::nothrow) Made(std::move(made), std::forward<Args>(args)...));
        return out != nullptr ? std::error_code()
                              : std::make_error_code(std::errc::not_enough_memory);
    }

    eddy::poller& poller() noexcept { return *poller_; }
    /// The poller if it uses epoll, else null.
    const epoll_poller* epoll() const noexcept { return epoll_; }
    /// Brings in what other threads wanted while a worker was in the kernel. Called if `changed`.
    /// The worker's `work` returns an error; the next wait tries again.
    virtual std::error_code before_wait() noexcept { return {}; }

    pollset_worker* polling = nullptr;
    pollset_worker* deputy = nullptr;  ///< of the same pollset; null if nobody polls
    worker_list sleepers;
    /// A sleeper that gets up by itself before long, to check that its pollset makes headway. Until
    /// then, nobody is called for what is left in its queue or in the kernel.
    pollset_worker* sentry = nullptr;
    /// The worker that goes on alone in the sentry's pollset: all it touches stays on one core.
    pollset_worker* lead = nullptr;
    std::uint32_t called = 0;            ///< sleepers that were called and are not back yet
    std::uint32_t calls_since_wait = 0;  ///< closures that its workers have run since
    bool wake_sent = false;              ///< to the kernel; no worker has come out with it
    bool changed = false;                ///< before_wait() has something to do
    bool retired = false;                ///< no pollset uses it: vacated() follows when it is empty
    std::atomic<std::uint64_t> outings{0};  ///< of the kernel, by workers; written under the lock

    void end_watch() noexcept { sentry = lead = nullptr; }
    bool vacant() const noexcept { return polling == nullptr && sleepers.empty() && called == 0; }

private:
    friend class station_depot;

    std::unique_ptr<eddy::poller> poller_;
    const epoll_poller* epoll_;
    station* next_ = nullptr;
    station* prev_ = nullptr;
};

/// Owns the stations of a strategy that makes and drops them as it goes. In a forked child, where
/// pollsets drop nothing, they are closed with the domain.
class station_depot {
public:
    station_depot() noexcept = default;
    station_depot(const station_depot&) = delete;
    station_depot& operator=(const station_depot&) = delete;
    ~station_depot();

    station& keep(std::unique_ptr<station> s) noexcept;
    void drop(station& s) noexcept;

private:
    station* head_ = nullptr;
};

}  // namespace eddy::detail
