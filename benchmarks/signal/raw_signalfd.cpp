// SPDX-License-Identifier: Apache-2.0
// Signals on a bare signalfd in an epoll.

#include <sys/epoll.h>
#include <sys/signalfd.h>

#include "common/unique_fd.hpp"
#include "signal/harness.hpp"

namespace {

template <class Handler>
class signalfd_loop {
public:
    explicit signalfd_loop(Handler& handler)
        : handler_(handler), epoll_(bench::must(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGUSR1);
        bench::must(::sigprocmask(SIG_BLOCK, &signals, nullptr), "sigprocmask");
        signals_ = bench::unique_fd(
            bench::must(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd"));
        epoll_event e{.events = EPOLLIN, .data = {}};
        bench::must(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, signals_.get(), &e), "epoll_ctl");
    }

    void run() {
        while (!stopped_) {
            epoll_event e;
            bench::must(::epoll_wait(epoll_.get(), &e, 1, -1), "epoll_wait");
            signalfd_siginfo info;
            if (::read(signals_.get(), &info, sizeof info) == sizeof info) handler_.came();
        }
    }
    void stop() { stopped_ = true; }

private:
    Handler& handler_;
    bench::unique_fd epoll_;
    bench::unique_fd signals_;
    bool stopped_ = false;
};

}  // namespace

int main(int argc, char** argv) { return bench::signal_main<signalfd_loop>(argc, argv); }
