#include "kernel/sigpipe_guard.hpp"

#include "kernel/call.hpp"

#include <cerrno>
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
    count_call();
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1;
}

}  // namespace

sigpipe_guard::sigpipe_guard() noexcept : was_pending_(sigpipe_pending()) {
    const sigset_t sigpipe = only_sigpipe();
    count_call();
    pthread_sigmask(SIG_BLOCK, &sigpipe, &old_mask_);
}

sigpipe_guard::~sigpipe_guard() {
    if (!was_pending_ && sigpipe_pending()) {
        const sigset_t sigpipe = only_sigpipe();
        const timespec at_once{};
        count_call();
        while (sigtimedwait(&sigpipe, nullptr, &at_once) < 0 && errno == EINTR) {}
    }
    count_call();
    pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
}

}  // namespace eddy::kernel
