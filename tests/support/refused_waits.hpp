// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/call.hpp"

#include <eddy/engine/engine_kind.hpp>

namespace eddy::test {

/// The call with which a loop of this engine waits.
constexpr kernel::call wait_call_of(engine_kind kind) noexcept {
    return kind == engine_kind::epoll  ? kernel::call::epoll_wait
           : kind == engine_kind::poll ? kernel::call::poll
                                       : kernel::call::uring_enter;
}

/// The next `times` waits of this engine fail. Other calls are left alone: a poll in a ring stands
/// for one of the loop's own, which would end later with the same error.
inline void refuse_waits(engine_kind kind, int error, unsigned times) noexcept {
    kernel::fail(wait_call_of(kind), error, 0, times);
}

}  // namespace eddy::test
