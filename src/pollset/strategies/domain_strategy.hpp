// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pollset/strategies/station.hpp"
#include "pollset/strategies/strategy.hpp"

#include <eddy/base/interest.hpp>

#include <cstddef>

namespace eddy::detail {

/// Uses one common epoll set for all pollsets. A handle is registered once, edge-triggered, from
/// its first pollset to its last one. Writing is added when a closure first waits for it, and
/// stays. If it were there from the start, each connection would cost a wake-up that nobody wants.
///
/// If the strategy spreads, a crowded pollset moves out into an epoll set of its own, with all its
/// handles. It comes back for good when one of them joins another pollset too. So all pollsets that
/// hold a handle have one place, and a handle is always registered in just one epoll set. The
/// kernel reports new registrations that are ready: a move loses no event, but may repeat one.
class domain_strategy : public strategy {
public:
    explicit domain_strategy(poll_core& core, const strategy_traits& t) noexcept
        : strategy(t), core_(core) {}
    std::error_code open() noexcept;

    std::error_code join(membership& m) noexcept final;
    void leave(membership& m) noexcept final;
    std::error_code wants_more(poll_handle& h) noexcept final;

    std::error_code open(pollset& set) noexcept final;
    void close(pollset& set) noexcept final;
    void crowded(pollset& set) noexcept final;
    void vacated(station& s) noexcept final { stations_.drop(s); }
    /// Chooses the worker that has slept longest.
    pollset_worker& successor(station& s) noexcept override { return *s.sleepers.front(); }

private:
    /// The maximum number of pollsets that have moved out. Each costs two descriptors.
    static constexpr std::size_t outside_max = 64;

    std::error_code registered_as(poll_handle& h, interest wanted) noexcept;
    std::error_code make(station*& out) noexcept;
    /// Moves a pollset and its handles, except that of `joining`, which is not registered there.
    std::error_code move(pollset& set, station& to, const membership* joining = nullptr) noexcept;
    std::error_code come_back(pollset& set, const membership* joining) noexcept;

    poll_core& core_;
    station_depot stations_;
    station* common_ = nullptr;
    std::size_t outside_ = 0;
};

}  // namespace eddy::detail
