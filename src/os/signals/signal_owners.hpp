// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace eddy::detail {

/// Makes `owner` the owner of a signal. False if there is another one: if two signalfds of a
/// process share a signal, both become ready and only one gets it. Thread: any.
[[nodiscard]] bool claim_signal(int signum, const void* owner) noexcept;
void release_signal(int signum) noexcept;

}  // namespace eddy::detail
