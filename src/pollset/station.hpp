#pragma once

#include "poller/poller.hpp"

#include <eddy/pollset/pollset_worker.hpp>

#include <cstddef>
#include <memory>

namespace eddy::detail {

/// Workers that sleep, first come, first called.
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

/// A poller, the one worker that waits in it, and those that wait for their turn.
/// Lock: the domain's, for everything but the wait itself.
class station {
public:
    explicit station(std::unique_ptr<eddy::poller> p) noexcept : poller_(std::move(p)) {}
    virtual ~station() = default;

    eddy::poller& poller() noexcept { return *poller_; }
    /// What other threads wanted changed while a worker was in the kernel.
    virtual void before_wait() noexcept {}

    pollset_worker* polling = nullptr;
    worker_list sleepers;
    std::size_t called = 0;            ///< sleepers that were called and are not back yet
    std::size_t calls_since_wait = 0;  ///< closures that its workers have run
    bool wake_sent = false;            ///< to `polling`, which has not noticed yet
    bool retired = false;  ///< no pollset uses it any more: the strategy is told when it is empty

    bool vacant() const noexcept { return polling == nullptr && sleepers.empty() && called == 0; }

private:
    std::unique_ptr<eddy::poller> poller_;
};

}  // namespace eddy::detail
