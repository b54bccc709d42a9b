// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>

namespace eddy {

class loop;

/// Detects, in builds without NDEBUG, that a loop waits for a sender of another loop that nobody
/// runs, and ends the program with a line that names both. Since a new thread may be about to run
/// the other loop, this counts as a mistake only after some time.
///
/// Each wait is remembered with its two loops until the other loop is run or destroyed. At most 16
/// waits are remembered, and further ones are ignored. Nothing is allocated.
namespace stranded_waits {

/// Sets how long a loop may wait for one that nobody runs. For tests.
void set_patience(duration limit) noexcept;

/// Remembers that the loop of this thread, if it runs one, waits for `home`. Thread: any.
void begin(loop& home) noexcept;
/// Forgets all waits for `home`: somebody runs it, or nobody waits for it. Thread: any.
void forget(const loop& home) noexcept;
/// Forgets all waits by `l` and for `l`. Thread: any.
void end(const loop& l) noexcept;
/// Returns when `waiting` has to look again; `never` if it waits for nobody. Ends the program if it
/// has waited for too long. Thread: that of `waiting`.
time_point look(loop& waiting) noexcept;

}  // namespace stranded_waits
}  // namespace eddy
