// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/assert.hpp>
#include <eddy/pollset/poll_domain.hpp>

#include <cstddef>
#include <memory>
#include <system_error>

namespace eddy {
class poll_handle;
class pollset;
class pollset_worker;
}  // namespace eddy

namespace eddy::detail {

class poll_core;
class station;
struct membership;

/// The maximum number of events that a wait brings.
inline constexpr std::size_t events_at_once = 64;
/// The maximum number of events that a look brings where priorities ask for all that is ready.
inline constexpr std::size_t look_limit = 1024;

struct strategy_traits {
    poll_strategy kind;
    /// Level-triggered: an event that nobody waits for is not remembered. The poller reports it
    /// again as soon as somebody waits.
    bool level = false;
    std::size_t events_max = events_at_once;  ///< per wait
    std::size_t closures_max = 64;            ///< run by one `work`
    bool has_deputies = false;                ///< two workers of one pollset may be in the kernel
    bool has_sentries = false;                ///< one worker serves a pollset with brisk closures
    bool spreads = false;                     ///< crowded() is worth a call
    bool has_neighbourhoods = false;          ///< entered() is worth a call
};

/// Decides which stations there are, which of them the workers of a pollset use, and what is
/// registered there. Knows no closures and runs nothing.
///
/// Contract:
/// - A handle in a pollset is watched at that pollset's station for reading and errors, and for
///   writing from the first `wants_more` on that asks for it. An event after an arming is reported
///   at least once, at one of the stations that watch the handle.
/// - `poll_core::place_of(pollset)` is where its workers poll, from open() on. It may change in
///   join(), leave() and crowded(); the strategy then calls `poll_core::moved(pollset&)`, which
///   sends them to the new station.
/// - Tokens are `poll_core::token_of(handle)`.
///
/// Lock: the domain's is held in every call. A change that a worker in the kernel must know of
/// reaches it at once.
class strategy {
public:
    explicit strategy(const strategy_traits& t) noexcept : traits(t) {
        EDDY_ASSERT(t.events_max <= events_at_once,
                    "a strategy wants more than a wait has room for");
    }
    virtual ~strategy() = default;

    const strategy_traits traits;

    virtual std::error_code join(membership& m) noexcept = 0;
    virtual void leave(membership& m) noexcept = 0;
    /// Called when a closure waits for an event that none waited for before.
    virtual std::error_code wants_more(poll_handle& h) noexcept = 0;
    /// Called when fewer closures wait, after an event (if level-triggered), a cancellation,
    /// make_ready() or the end.
    virtual void wants_less(poll_handle&) noexcept {}

    virtual std::error_code open(pollset& set) noexcept = 0;
    virtual void close(pollset& set) noexcept = 0;

    /// Called when a worker of `set` is about to sleep because a worker of another pollset polls at
    /// their station. The strategy may give `set` another place.
    virtual void crowded(pollset&) noexcept {}

    /// Called when a retired station has become empty.
    virtual void vacated(station&) noexcept {}

    /// Chooses the sleeper that polls next. Precondition: there is one.
    virtual pollset_worker& successor(station& s) noexcept = 0;
    /// Called when a worker has entered its pollset.
    virtual void entered(pollset_worker&) noexcept {}
};

using strategy_maker = std::error_code(poll_core& core, std::unique_ptr<strategy>& out) noexcept;

strategy_maker make_domain_strategy;
strategy_maker make_epoll1_strategy;
strategy_maker make_epollex_strategy;
strategy_maker make_poll_strategy;

}  // namespace eddy::detail
