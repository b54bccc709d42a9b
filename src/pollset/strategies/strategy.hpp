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

/// The most events that a wait brings.
inline constexpr std::size_t events_at_once = 64;
/// The most events that a look brings where priorities ask for all that is ready.
inline constexpr std::size_t look_limit = 1024;

struct strategy_traits {
    poll_strategy kind;
    /// Events last: what nobody waits for is reported again as soon as someone does, and is not
    /// remembered.
    bool level = false;
    std::size_t events_max = events_at_once;  ///< that one wait may bring
    std::size_t closures_max = 64;            ///< that one `work` runs
    bool has_deputies = false;                ///< two workers of one pollset may be in its kernel
    bool has_sentries = false;                ///< a pollset with brisk closures keeps to one worker
    bool spreads = false;                     ///< crowded() is worth a call
    bool has_neighbourhoods = false;          ///< entered() is worth a call
};

/// Which stations there are, whose workers poll where, and what is registered there. Knows no
/// closures and runs nothing.
///
/// Contract:
/// - A handle that is in a pollset is watched for reading and errors at that pollset's station, and
///   for writing from the first `wants_more` on that asks for it, such that what happens after
///   arming is reported there, at least once to one of the stations that watch it.
/// - `poll_core::place_of(pollset)` is where its workers poll, from open() on. It may change with
///   join(), leave() and crowded(); the strategy then calls `poll_core::moved(pollset&)`, so that
///   they go to the new one.
/// - Tokens are `poll_core::token_of(handle)`.
///
/// Lock: the domain's is held in every call. What a worker that is in the kernel at that moment
/// must know reaches it at once.
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
    /// A closure waits now for an event that none waited for before.
    virtual std::error_code wants_more(poll_handle& h) noexcept = 0;
    /// Fewer closures wait, because of an event (where events last), a cancellation, or the end.
    virtual void wants_less(poll_handle&) noexcept {}

    virtual std::error_code open(pollset& set) noexcept = 0;
    virtual void close(pollset& set) noexcept = 0;

    /// A worker of `set` is about to sleep, because one of another pollset polls where it would.
    /// The strategy may give it another place.
    virtual void crowded(pollset&) noexcept {}

    /// Nobody is in a retired station any more.
    virtual void vacated(station&) noexcept {}

    /// The sleeper that polls next. Precondition: there is one.
    virtual pollset_worker& successor(station& s) noexcept = 0;
    virtual void entered(pollset_worker&) noexcept {}
};

using strategy_maker = std::error_code(poll_core& core, std::unique_ptr<strategy>& out) noexcept;

strategy_maker make_domain_strategy;
strategy_maker make_epoll1_strategy;
strategy_maker make_epollex_strategy;
strategy_maker make_poll_strategy;

}  // namespace eddy::detail
