// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>

namespace eddy {

class loop;

/// Notices, in builds without NDEBUG, that a loop waits for a sender of another loop that nobody
/// runs, and ends the program with a line that names both. The other loop may be about to be run by
/// a thread that has just been started, so that counts as a mistake only after some time.
///
/// A wait is remembered with the two loops until the other loop is run or destroyed. At most 16 are
/// remembered; more are not looked at. Nothing is allocated.
namespace stranded_waits {

/// How long a loop may wait for one that nobody runs. For tests.
void set_patience(duration limit) noexcept;

/// The loop that runs on this thread, if one does, waits for `home` from now on.
/// Thread: any.
void begin(loop& home) noexcept;
/// Somebody runs `home`, or nobody waits for it any more.
/// Thread: any.
void forget(const loop& home) noexcept;
/// `l` neither waits nor is waited for any more.
/// Thread: any.
void end(const loop& l) noexcept;
/// When `waiting` has to look again; `never` if it waits for nobody. Ends the program if it has
/// waited for too long.
/// Thread: that of `waiting`.
time_point look(loop& waiting) noexcept;

}  // namespace stranded_waits
}  // namespace eddy
