// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace eddy::kernel {

/// Keeps SIGPIPE from this thread during the guard's life, and discards one raised meanwhile. A
/// SIGPIPE that was pending before stays pending. For kernels without RWF_NOSIGNAL.
class sigpipe_guard {
public:
    sigpipe_guard() noexcept;
    ~sigpipe_guard();
    sigpipe_guard(const sigpipe_guard&) = delete;
    sigpipe_guard& operator=(const sigpipe_guard&) = delete;

private:
    sigset_t old_mask_;
    bool was_pending_;
    bool blocks_;  ///< false only if the kernel refused to block it
};

}  // namespace eddy::kernel
