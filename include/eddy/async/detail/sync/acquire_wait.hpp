// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/sync/semaphore_core.hpp>
#include <eddy/async/detail/sync/wait_sender.hpp>

#include <cstddef>

namespace eddy::detail {
EDDY_EX_BEGIN

/// The wait for permits of a semaphore, as wait_operation needs it.
struct acquire_wait {
    struct node : semaphore_waiter {
        node(callback on_complete, acquire_wait& wait) noexcept
            : semaphore_waiter(on_complete, wait.wanted) {}
    };
    using signatures = ex::completion_signatures<ex::set_value_t(), ex::set_stopped_t()>;

    template <class Receiver>
    void finish(node&, Receiver& receiver) noexcept {
        ex::set_value(static_cast<Receiver&&>(receiver));
    }

    semaphore_core* core;
    std::size_t wanted;
};

EDDY_EX_END
}  // namespace eddy::detail
