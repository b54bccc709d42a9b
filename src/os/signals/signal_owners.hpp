// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace eddy::detail {

/// Who has a signal: one in the process, because two signalfds that share a signal are both ready
/// and only one gets it. False: another has it. Thread: any.
[[nodiscard]] bool claim_signal(int signum, const void* owner) noexcept;
void release_signal(int signum) noexcept;

}  // namespace eddy::detail
