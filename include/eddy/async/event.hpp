// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/sync/event_core.hpp>
#include <eddy/async/detail/sync/wait_sender.hpp>

namespace eddy {
namespace detail {
EDDY_EX_BEGIN

struct event_wait {
    struct node : waiter {
        node(callback on_complete, event_wait&) noexcept : waiter(on_complete) {}
    };
    using signatures = ex::completion_signatures<ex::set_value_t(), ex::set_stopped_t()>;

    template <class Receiver>
    void finish(node&, Receiver& receiver) noexcept {
        ex::set_value(static_cast<Receiver&&>(receiver));
    }

    event_core* core;
};

EDDY_EX_END
}  // namespace detail

EDDY_EX_BEGIN

/// A flag to wait for: set() releases all waiters, and later waits complete at once until reset().
///
///     event ready;
///     co_await ready.wait();   // one or many, on any loop
///     ready.set();             // on any thread
///
/// A waiter on a loop's thread continues there, later, never inside set(). A waiter without a loop
/// completes inside set(), on the calling thread. A wait that set() has released completes even if
/// reset() is called before it does. Thread: any. Lifetime: until every wait has completed.
class event {
public:
    explicit event(bool set = false) noexcept : core_(set) {}

    void set() noexcept { core_.set(); }
    void reset() noexcept { core_.reset(); }
    bool is_set() const noexcept { return core_.is_set(); }

    /// Completes without a value when the event is set: at once if it is set already.
    auto wait() noexcept { return detail::wait_sender(detail::event_wait{&core_}); }

private:
    detail::event_core core_;
};

EDDY_EX_END
}  // namespace eddy
