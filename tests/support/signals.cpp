// SPDX-License-Identifier: Apache-2.0
#include "support/signals.hpp"

#include <cerrno>
#include <ctime>
#include <system_error>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace eddy::test {

blocked_signals::blocked_signals(signal_set signals) : blocked_(signals.native()) {
    ::pthread_sigmask(SIG_BLOCK, &blocked_, &before_);
}

blocked_signals::~blocked_signals() {
    const timespec at_once{};
    constexpr int more_than_the_kernel_queues = 1'000'000;
    for (int i = 0; i != more_than_the_kernel_queues; ++i) {
        if (::sigtimedwait(&blocked_, nullptr, &at_once) < 0 && errno != EINTR) {
            break;
        }
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void send_signal(int signum) {
    if (::kill(::getpid(), signum) != 0) {
        throw std::system_error(errno, std::system_category(), "kill");
    }
}

bool queue_signal(int signum, int value) {
    sigval sent{};
    sent.sival_int = value;
    if (::sigqueue(::getpid(), signum, sent) == 0) {
        return true;
    }
    if (errno != EAGAIN) {
        throw std::system_error(errno, std::system_category(), "sigqueue");
    }
    return false;
}

void send_to_this_thread(int signum) {
    ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), signum);
}

bool is_pending(int signum) {
    sigset_t pending;
    ::sigpending(&pending);
    return ::sigismember(&pending, signum) == 1;
}

bool is_blocked(int signum) {
    sigset_t mask;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    return ::sigismember(&mask, signum) == 1;
}

}  // namespace eddy::test
