// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/child.hpp"
#include "support/log.hpp"
#include "support/service_file.hpp"

#include <eddy/async/async.hpp>
#include <eddy/io/process.hpp>
#include <eddy/io/read_until.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include <signal.h>

namespace example {

using namespace std::chrono_literals;

/// A program that is restarted whenever it ends. Its output goes to standard output, news of it to
/// standard error, both with its name. Everything that it has started ends with it.
class service {
public:
    service(service_line line, log& to, eddy::duration grace)
        : line_(std::move(line)), log_(to), grace_(grace) {}

    const service_line& line() const noexcept { return line_; }
    bool runs() const noexcept { return !over_.is_set(); }

    /// Runs the program until end() or kill(). The first delay before a restart is 0.1 s, and each
    /// further one twice that, up to 10 s. After 10 s of life the delays begin again.
    eddy::task<> run(eddy::loop& loop) {
        constexpr eddy::duration delay_min = 100ms;
        constexpr eddy::duration delay_max = 10s;
        over_.reset();
        for (eddy::duration delay = delay_min; !leaving_.is_set(); delay *= 2) {
            const eddy::time_point begin = eddy::clock::now();
            co_await run_once(loop);
            delay = eddy::clock::now() - begin > delay_max ? delay_min : std::min(delay, delay_max);
            static_cast<void>(co_await eddy::as_result(eddy::timeout(leaving_.wait(), delay)));
        }
        over_.set();
    }
    eddy::task<> end() {
        leaving_.set();
        signal_all(SIGTERM);
        const auto in_time = co_await eddy::as_result(eddy::timeout(over_.wait(), grace_));
        if (!in_time) {
            signal_all(SIGKILL);
            co_await over_.wait();
        }
    }
    void kill() noexcept {
        leaving_.set();
        signal_all(SIGKILL);
    }

private:
    eddy::task<> run_once(eddy::loop& loop) try {
        child_ = eddy::process(loop, {.program = line_.program,
                                      .arguments = line_.arguments,
                                      .in = eddy::stdio::null(),
                                      .out = eddy::stdio::pipe(),
                                      .err = eddy::stdio::like_output(),
                                      .process_group = 0,  // ^C must not reach it
                                      .kill_group_on_destroy = true});
        say("started");
        co_await eddy::when_any(print_output(), until_over(loop));
        const eddy::exit_status status = co_await child_.wait();
        child_ = {};  // kills the processes that it left behind
        say(describe(status));
    } catch (const std::system_error& e) {
        say(e.what());  // such as a missing program, which may come
    }

    eddy::task<> print_output() {
        eddy::result<std::size_t> size = 0;
        for (std::string text; size || size.error() == std::errc::message_size;) {
            size =
                co_await eddy::as_result(eddy::read_until(child_.stdout_pipe(), text, "\n", 4096));
            const std::string line = text.substr(0, size ? *size - 1 : text.size());
            if (size || !line.empty()) {
                log_.print(line_.name + ": " + line);
            }
            text.erase(0, size ? *size : text.size());
        }
    }
    /// Waits a second longer than the child: processes that it started may hold its output open.
    eddy::task<> until_over(eddy::loop& loop) {
        co_await child_.wait();
        co_await loop.get_scheduler().schedule_after(1s);
    }

    /// Signals the process group, which has the child's number until the child is reaped.
    void signal_all(int signum) const noexcept {
        if (!child_.kill(0)) {
            ::kill(-child_.pid(), signum);
        }
    }

    void say(const std::string& what) const { log_.say(line_.name + " " + what); }

    service_line line_;
    log& log_;
    eddy::duration grace_;
    eddy::process child_;
    eddy::event leaving_;  ///< set: no more restarts
    eddy::event over_{true};
};

}  // namespace example
