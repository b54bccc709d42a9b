// SPDX-License-Identifier: Apache-2.0
#include "base/make_opened.hpp"
#include "kernel/thread.hpp"
#include "pollset/core/poll_core.hpp"
#include "pollset/strategies/domain_strategy.hpp"

namespace eddy::detail {

namespace {

/// A designated poller that brings one event and runs one closure a turn.
///
/// There are as many neighbourhoods as cores. A pollset is in the one of the core where its first
/// worker came in; it is looked up again when all have left. The next poller is called from another
/// neighbourhood than that of this core, if one can be: so it does not push this thread, which is
/// about to run something, off its core.
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
