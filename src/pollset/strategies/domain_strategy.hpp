// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pollset/strategies/station.hpp"
#include "pollset/strategies/strategy.hpp"

#include <eddy/base/interest.hpp>

#include <cstddef>

namespace eddy::detail {

/// One epoll set for all, the common one. A handle is registered once, edge-triggered, from its
/// first pollset to its last one. Writing is added when someone first waits for it, and stays: with
/// it from the start, each connection would cost a wake-up that nobody wants.
///
/// If it spreads, a pollset that is crowded moves out into an epoll set of its own, with all its
/// handles, and comes back for good when one of them joins another pollset too. So all pollsets
/// that a handle is in have one place, and a handle is always registered in just one epoll set. A
/// handle that is registered anew is reported if it is ready: a move loses no event, but may tell
/// of one twice.
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
    /// Who has slept longest.
    pollset_worker& successor(station& s) noexcept override { return *s.sleepers.front(); }

private:
    /// Of pollsets that have moved out. Each costs two descriptors.
    static constexpr std::size_t outside_max = 64;

    std::error_code registered_as(poll_handle& h, interest wanted) noexcept;
    std::error_code make(station*& out) noexcept;
    /// All its handles too, but that of `joining`, which is registered nowhere yet or elsewhere.
    std::error_code move(pollset& set, station& to, const membership* joining = nullptr) noexcept;
    std::error_code come_back(pollset& set, const membership* joining) noexcept;

    poll_core& core_;
    station_depot stations_;
    station* common_ = nullptr;
    std::size_t outside_ = 0;
};

}  // namespace eddy::detail
