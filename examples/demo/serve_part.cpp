#include "demo/parts.hpp"

#include "support/echo_server.hpp"

#include <csignal>
#include <cstdio>

#include <sys/signalfd.h>

namespace demo {

namespace {

/// Stops the loop at the first SIGINT or SIGTERM. The second ends the process, as usual.
class stopper {
public:
    explicit stopper(eddy::loop& loop) : loop_(loop) {
        sigemptyset(&signals_);
        sigaddset(&signals_, SIGINT);
        sigaddset(&signals_, SIGTERM);
        sigprocmask(SIG_BLOCK, &signals_, nullptr);
        eddy::unique_fd fd(::signalfd(-1, &signals_, SFD_CLOEXEC | SFD_NONBLOCK));
        signalfd_ = eddy::descriptor(loop, std::move(fd), {.name = "signals"});
        loop_.start<&stopper::io_, &stopper::on_signal>(
            *this, eddy::read(signalfd_, std::as_writable_bytes(std::span(&info_, 1))));
    }

private:
    void on_signal(eddy::io_result result) noexcept {
        if (result) {
            std::printf("signal %u: draining\n", info_.ssi_signo);
            std::fflush(stdout);
            sigprocmask(SIG_UNBLOCK, &signals_, nullptr);
            loop_.stop();
        }
    }

    eddy::loop& loop_;
    sigset_t signals_{};
    eddy::descriptor signalfd_;
    eddy::io_operation io_;
    signalfd_siginfo info_{};
};

}  // namespace

int serve(unsigned short port) {
    eddy::loop loop({.name = "server"});
    eddy::unique_fd listener = example::listen_on(port);
    std::printf("port %d\n", example::port_of(listener.get()));
    std::printf("serving echo on the engine %s; ^C to stop\n", eddy::to_string(loop.engine()));
    std::fflush(stdout);
    const stopper watch(loop);
    const example::echo_server server(loop, std::move(listener));
    loop.run(eddy::run_mode::drained);
    std::printf("served %llu requests\n", static_cast<unsigned long long>(server.requests()));
    return 0;
}

}  // namespace demo
