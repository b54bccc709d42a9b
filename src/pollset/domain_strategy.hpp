#pragma once

#include "pollset/station.hpp"
#include "pollset/strategy.hpp"

#include <eddy/base/interest.hpp>

#include <memory>

namespace eddy::detail {

/// One epoll set. A handle is registered there once, edge-triggered, from its first pollset to its
/// last one. Writing is added when someone first waits for it, and stays: with it from the start,
/// each connection would cost a wake-up that nobody wants.
class domain_strategy : public strategy {
public:
    explicit domain_strategy(poll_core& core,
                             const strategy_traits& t = {.kind = poll_strategy::domain}) noexcept
        : strategy(t), core_(core) {}
    std::error_code open() noexcept;

    std::error_code join(membership& m) noexcept final;
    void leave(membership& m) noexcept final;
    std::error_code wants_more(poll_handle& h) noexcept final;

    std::error_code open(pollset& set) noexcept final;
    void close(pollset&) noexcept final {}
    /// Who has slept longest.
    pollset_worker& successor(station& s) noexcept override { return *s.sleepers.front(); }

private:
    std::error_code registered_as(poll_handle& h, interest wanted) noexcept;

    poll_core& core_;
    std::unique_ptr<station> station_;
};

}  // namespace eddy::detail
