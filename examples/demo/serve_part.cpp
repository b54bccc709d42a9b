#include "demo/parts.hpp"

#include "support/echo_server.hpp"

#include <csignal>
#include <cstdio>

#include <sys/signalfd.h>
#include <unistd.h>

namespace demo {

namespace {

/// Stops the loop at the first SIGINT or SIGTERM; the second ends the process at once.
class stopper {
public:
    explicit stopper(eddy::loop& loop) : loop_(loop) {
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGINT);
        sigaddset(&signals, SIGTERM);
        sigprocmask(SIG_BLOCK, &signals, nullptr);
        eddy::unique_fd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
        signals_ = eddy::descriptor(loop, std::move(fd), {.name = "signals"});
        // In the background: waiting for a signal must not keep a draining loop going.
        io_.set_background(true);
        read();
    }
    ~stopper() { loop_.abandon(io_); }

private:
    void read() noexcept {
        loop_.start<&stopper::io_, &stopper::on_signal>(
            *this, eddy::read(signals_, std::as_writable_bytes(std::span(&info_, 1))));
    }
    void on_signal(eddy::io_result result) noexcept {
        if (!result) {
            return;
        }
        if (asked_) {
            std::fprintf(stderr, "asked twice: ending at once\n");
            ::_exit(1);
        }
        asked_ = true;
        std::printf("signal %u: draining\n", info_.ssi_signo);
        std::fflush(stdout);
        loop_.stop();
        read();
    }

    eddy::loop& loop_;
    eddy::descriptor signals_;
    eddy::io_operation io_;
    signalfd_siginfo info_{};
    bool asked_ = false;
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
