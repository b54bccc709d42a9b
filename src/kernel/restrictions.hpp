// SPDX-License-Identifier: Apache-2.0

// Restrictions by an administrator or a container that make the kernel refuse calls.
#pragma once

namespace eddy::kernel {

/// True if a seccomp filter checks the calls of this thread.
bool has_seccomp_filter() noexcept;

/// True if /proc/sys/kernel/io_uring_disabled stops some or all processes from making rings.
bool uring_is_disabled() noexcept;

}  // namespace eddy::kernel
