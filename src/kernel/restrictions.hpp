// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reasons that an administrator or a container gives the kernel for refusing a call.
namespace eddy::kernel {

/// True if a seccomp filter judges the calls of this thread.
bool has_seccomp_filter() noexcept;

/// True if /proc/sys/kernel/io_uring_disabled keeps some or all processes from making rings.
bool uring_is_disabled() noexcept;

}  // namespace eddy::kernel
