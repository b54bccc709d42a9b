#pragma once

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

/// Which stations there are, whose workers poll where, and what is registered there. Knows no
/// closures and runs nothing.
///
/// Contract:
/// - A handle that is in a pollset is watched for reading and errors at that pollset's station, and
///   for writing from the first `wants_more` on that asks for it, such that what happens after
///   arming is reported there, at least once to one of the stations that watch it.
/// - station_of() may change with join() and leave(); the strategy then calls
///   `poll_core::moved(pollset&)`, so that workers go to the new one.
/// - Tokens are `poll_core::token_of(handle)`.
///
/// Lock: the domain's is held in every call. What a worker that is in the kernel at that moment
/// must know reaches it at once.
class strategy {
public:
    virtual ~strategy() = default;

    virtual poll_strategy kind() const noexcept = 0;
    /// Events last: what nobody waits for is reported again as soon as someone does, and is not
    /// remembered.
    virtual bool level() const noexcept { return false; }
    virtual std::error_code join(membership& m) noexcept = 0;
    virtual void leave(membership& m) noexcept = 0;
    /// A closure waits now for an event that none waited for before.
    virtual std::error_code wants_more(poll_handle& h) noexcept = 0;
    /// Fewer closures wait, because of an event, a cancellation, or the end.
    virtual void wants_less(poll_handle&) noexcept {}

    virtual std::error_code open(pollset& set) noexcept = 0;
    virtual void close(pollset& set) noexcept = 0;
    virtual station& station_of(pollset& set) noexcept = 0;

    /// Nobody is in a retired station any more.
    virtual void vacated(station&) noexcept {}

    /// The sleeper that polls next. Precondition: there is one.
    virtual pollset_worker& successor(station& s) noexcept = 0;
    virtual void entered(pollset_worker&) noexcept {}
    virtual void left(pollset_worker&) noexcept {}

    /// How many events one wait may bring, and how many closures one `work` runs.
    virtual std::size_t events_max() const noexcept { return 64; }
    virtual std::size_t closures_max() const noexcept { return 64; }
};

using strategy_maker = std::error_code(poll_core& core, std::unique_ptr<strategy>& out) noexcept;

strategy_maker make_domain_strategy;
strategy_maker make_epoll1_strategy;
strategy_maker make_epollex_strategy;
strategy_maker make_poll_strategy;

}  // namespace eddy::detail
