// SPDX-License-Identifier: Apache-2.0

// Hands the polling of one epoll set on between neighbourhoods of cores, one event at a time.
#include "base/make_opened.hpp"
#include "kernel/thread.hpp"
#include "pollset/core/poll_core.hpp"
#include "pollset/strategies/domain_strategy.hpp"

namespace eddy::detail {

namespace {

/// Has one designated poller, which brings one event per wait and runs one closure per `work`.
///
/// There are as many neighbourhoods as cores. A pollset belongs to that of the core where its first
/// worker came in, and is assigned again when all workers have left. The next poller is called from
/// another neighbourhood than this core's, if possible, so that it does not push this thread, which
/// is about to run a closure, off its core.
class epoll1_strategy final : public domain_strategy {
public:
    explicit epoll1_strategy(poll_core& core) noexcept
        : domain_strategy(core, {.kind = poll_strategy::epoll1,
                                 .events_max = 1,
                                 .closures_max = 1,
                                 .has_neighbourhoods = true}) {}

    void entered(pollset_worker& w) noexcept override {
        if (poll_core::is_alone(w)) {
            poll_core::neighbourhood_of(poll_core::set_of(w)) = kernel::current_core();
        }
    }

    pollset_worker& successor(station& s) noexcept override {
        const unsigned here = kernel::current_core();
        for (pollset_worker* w = s.sleepers.front(); w != nullptr; w = worker_list::next(*w)) {
            if (poll_core::neighbourhood_of(poll_core::set_of(*w)) != here) {
                return *w;
            }
        }
        return *s.sleepers.front();
    }
};

}  // namespace

std::error_code make_epoll1_strategy(poll_core& core, std::unique_ptr<strategy>& out) noexcept {
    return make_opened<epoll1_strategy>(out, [](auto& made) { return made.open(); }, core);
}

}  // namespace eddy::detail
