/// Keeps services running:  supervisor FILE
/// A line of FILE is a name, a program and its arguments. They are started in this order; what they
/// print is printed with their names in front. One that ends is started again, the next time after
/// a longer while. SIGHUP reads FILE again: what is gone or changed is ended, what is new is
/// started. SIGTERM and ^C end all, the last one first, each within 5 s; the second of these
/// signals kills those that are left.
#include "support/arguments.hpp"
#include "support/service.hpp"
#include "support/signals.hpp"

#include <eddy/async/nursery.hpp>
#include <eddy/async/when_any.hpp>
#include <eddy/ex/then.hpp>
#include <eddy/io/run.hpp>
#include <eddy/io/signal.hpp>
#include <eddy/os/block_signals.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <list>

namespace {

using example::service;

class supervisor {
public:
    /// `quit`: the signals that end it.
    supervisor(eddy::loop& loop, const char* file, eddy::signal_set quit)
        : loop_(loop), file_(file), quit_(quit), signals_(loop, quit | eddy::signal_set{SIGHUP}) {}

    eddy::task<> run() {
        co_await eddy::with_nursery([this](eddy::nursery& children) -> eddy::task<> {
            co_await load(children);
            co_await until_told_to_quit(children);
            auto second = eddy::wait_any_signal(signals_, quit_) | eddy::ex::then([](auto) {});
            co_await eddy::when_any(end_all(services_), std::move(second));
            for (service& s : services_) s.kill();
            co_await children.join();
        });
    }

private:
    eddy::task<> until_told_to_quit(eddy::nursery& children) {
        for (;;) try {
                const auto told = co_await eddy::wait_any_signal(signals_, signals_.signals());
                if (told.signum != SIGHUP) co_return;
                co_await load(children);
            } catch (const std::runtime_error& e) {
                std::fprintf(stderr, "all stays as it is: %s\n", e.what());
            }
    }

    /// Throws, and changes nothing, if the file is wrong.
    eddy::task<> load(eddy::nursery& children) {
        std::list<service> next;
        for (const auto& line : example::read_service_file(file_)) {
            const auto same = std::find_if(services_.begin(), services_.end(),
                                           [&](const service& s) { return s.line() == line; });
            if (same == services_.end()) {
                next.emplace_back(line);
            } else {
                next.splice(next.end(), services_, same);
            }
        }
        services_.swap(next);
        co_await end_all(next);
        for (service& s : services_) {
            if (!s.runs()) children.start(s.run(loop_));
        }
    }

    static eddy::task<> end_all(std::list<service>& services) {
        for (auto s = services.rbegin(); s != services.rend(); ++s) {
            co_await s->end();
        }
    }

    eddy::loop& loop_;
    const char* file_;
    eddy::signal_set quit_;
    eddy::signal_source signals_;
    std::list<service> services_;  ///< in the order in which they are started
};

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 2) example::exit_with_usage(argv, "FILE   (NAME PROGRAM [ARGUMENT...] a line)");
    const eddy::signal_set quit = example::without_ignored({SIGINT, SIGTERM});
    std::signal(SIGHUP, SIG_DFL);  // nohup ignores it; here it does not mean a hang-up
    eddy::block_signals(quit | eddy::signal_set{SIGHUP});
    eddy::loop loop;
    supervisor all(loop, argv[1], quit);
    loop.run(all.run());
} catch (const std::exception& e) {
    std::fprintf(stderr, "supervisor: %s\n", e.what());
    return 1;
}
