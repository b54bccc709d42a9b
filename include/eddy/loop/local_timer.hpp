// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/loop/detail/timer_base.hpp>

namespace eddy {

/// A timer of one shot that only the thread of its loop sets and disarms: as large as a cache line,
/// half as large as a timer. For those of which there are many, such as a limit for each
/// connection.
///
///     idle --post_at()--> armed --due--> idle, then on_run
///     armed --disarm(), or the loop ends--> idle
///
/// Never early; equal deadlines in the order in which they were set. Room for it is reserved here,
/// so that setting, moving and firing never allocate and never fail.
///
/// Lifetime: while it is armed. One that is not may outlive the loop. on_run is called on the
/// loop's thread, must not throw, and may set the timer again or destroy it.
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
