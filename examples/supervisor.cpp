// SPDX-License-Identifier: Apache-2.0

// Keeps services running:  supervisor FILE [SECONDS]
// Each line of FILE has a name, a program and its arguments. Services start in this order, and
// their output is printed behind their names. One that ends is restarted, each time after a longer
// delay. SIGHUP reads FILE again: services that are gone or changed end, new ones start. SIGTERM
// and ^C end all services, the last one first, each within SECONDS (5); the second of these signals
// kills the rest. If printing fails, all services end too.
#include "support/arguments.hpp"
#include "support/services.hpp"
#include "support/standard_fds.hpp"

#include <eddy/async/nursery.hpp>
#include <eddy/async/when_any.hpp>
#include <eddy/io/run.hpp>
#include <eddy/io/signal.hpp>
#include <eddy/os/block_signals.hpp>

#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <system_error>

namespace {

class supervisor {
public:
    /// `quit` contains the signals that end the supervisor.
    supervisor(eddy::loop& loop, const char* file, eddy::signal_set quit, eddy::duration grace)
        : file_(file),
          quit_(quit),
          signals_(loop, quit | eddy::signal_set{SIGHUP}),
          services_(loop, log_, grace) {}

    eddy::task<> run() {
        co_await eddy::with_nursery([this](eddy::nursery& children) -> eddy::task<> {
            co_await load(children);
            co_await until_told_to_quit(children);
            co_await eddy::when_any(services_.end(), told(quit_));
            services_.kill();
            co_await children.join();
        });
        if (log_.error()) throw std::system_error(log_.error(), "cannot print");
    }

private:
    /// Reloads on SIGHUP until one of the signals in `quit_` arrives or printing fails.
    eddy::task<> until_told_to_quit(eddy::nursery& children) {
        while (last_ == SIGHUP && !log_.error()) try {
                co_await eddy::when_any(told(signals_.signals()), log_.lost());
                if (log_.error() || last_ != SIGHUP) co_return;
                co_await eddy::when_any(load(children), told(quit_));
            } catch (const std::runtime_error& e) {
                log_.say(std::string("all stays as it is: ") + e.what());
            }
    }

    eddy::task<> told(eddy::signal_set signals) {
        const auto signal = co_await eddy::wait_any_signal(signals_, signals);
        last_ = signal.signum;
    }

    /// Reads and applies the file. Throws, and changes nothing, if the file is wrong.
    eddy::task<> load(eddy::nursery& children) {
        const auto lines = example::read_service_file(file_);
        co_await services_.become(lines, children);
    }

    const char* file_;
    eddy::signal_set quit_;
    eddy::signal_source signals_;
    int last_ = SIGHUP;
    example::log log_;
    example::services services_;
};

}  // namespace

int main(int argc, char** argv) try {
    unsigned grace = 5;
    if (argc < 2 || argc > 3 || example::asks_for_help(argv) ||
        (argc == 3 && !example::read_number(argv[2], grace))) {
        example::exit_with_usage(argv, "FILE [SECONDS]   (NAME PROGRAM [ARGUMENT...] a line)");
    }
    example::require_standard_fds();
    const eddy::signal_set quit = {SIGINT, SIGTERM};
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGHUP, SIG_DFL);  // nohup ignores it, but here it asks for a reload
    eddy::block_signals(quit | eddy::signal_set{SIGHUP});
    eddy::loop loop;
    supervisor all(loop, argv[1], quit, std::chrono::seconds(grace));
    loop.run(all.run());
} catch (const std::exception& e) {
    std::fprintf(stderr, "supervisor: %s\n", e.what());
    return 1;
}
