// SPDX-License-Identifier: Apache-2.0

// Blocks SIGPIPE around a call, and discards the signal that the call raised.
#include "kernel/sigpipe_guard.hpp"

#include "kernel/retried.hpp"

#include <ctime>

#include <pthread.h>

namespace eddy::kernel {

namespace {

sigset_t only_sigpipe() noexcept {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    return set;
}

bool sigpipe_pending() noexcept {
    sigset_t pending;
    const io_result asked = once(call::sigpending, [&] { return ::sigpending(&pending); });
    return asked.ok() && sigismember(&pending, SIGPIPE) == 1;
}

}  // namespace

sigpipe_guard::sigpipe_guard() noexcept : was_pending_(sigpipe_pending()) {
    const sigset_t sigpipe = only_sigpipe();
    blocks_ = once(call::sigmask, [&] {
                  return result_of_error(::pthread_sigmask(SIG_BLOCK, &sigpipe, &old_mask_));
              }).ok();
}

sigpipe_guard::~sigpipe_guard() {
    if (!blocks_) {
        return;
    }
    if (!was_pending_ && sigpipe_pending()) {
        const sigset_t sigpipe = only_sigpipe();
        const timespec at_once{};
        retried(call::sigtimedwait, [&] { return ::sigtimedwait(&sigpipe, nullptr, &at_once); });
    }
    surely(call::sigmask,
           [&] { return result_of_error(::pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr)); });
}

}  // namespace eddy::kernel
