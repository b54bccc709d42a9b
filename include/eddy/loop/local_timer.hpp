// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/loop/detail/timer_base.hpp>

namespace eddy {

/// A one-shot timer that only its loop's thread sets and disarms. Its size is one cache line, half
/// that of a timer: made for large numbers, such as one time limit per connection.
///
///     idle --post_at()--> armed --due--> idle, then on_run
///     armed --disarm(), or the loop ends--> idle
///
/// A timer never fires early, and equal deadlines fire in the order in which they were set. The
/// constructor reserves room, so that setting, moving and firing never allocate and never fail.
///
/// Lifetime: the timer must stay alive while it is armed; an unarmed timer may outlive the loop.
/// on_run runs on the loop's thread, must not throw, and may set the timer again or destroy it.
class local_timer : public timer_base {
public:
    using callback = void (*)(local_timer&) noexcept;

    /// Thread: any. Throws std::bad_alloc.
    EDDY_API explicit local_timer(loop& home, callback on_run);
    EDDY_API ~local_timer();

private:
    callback on_run_;

    friend class loop;
};

}  // namespace eddy
