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

/// Something that happens once, until it is reset; everyone who waits for it goes on then.
///
///     event ready;
///     co_await ready.wait();   // one or many, on any loop
///     ready.set();             // on any thread
///
/// Thread: any. Who waits on a loop's thread goes on there, later, never inside set(); who waits
/// without a loop completes inside set(), on its thread. A wait that was let go on stays so if the
/// event is reset before it arrives. Lifetime: until every wait has completed.
class event {
public:
    explicit event(bool set = false) noexcept : core_(set) {}

    void set() noexcept { core_.set(); }
    void reset() noexcept { core_.reset(); }
    bool is_set() const noexcept { return core_.is_set(); }

    /// Completes with nothing when the event is set; at once if it is.
    auto wait() noexcept { return detail::wait_sender(detail::event_wait{&core_}); }

private:
    detail::event_core core_;
};

EDDY_EX_END
}  // namespace eddy
