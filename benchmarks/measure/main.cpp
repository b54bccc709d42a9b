// SPDX-License-Identifier: Apache-2.0

// The driver: measures one suite after the other, and prints what it has found as lines of JSON.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <string>

#include "common/clock.hpp"
#include "measure/context.hpp"
#include "measure/cores.hpp"
#include "measure/subject.hpp"
#include "measure/suites/echo_burst.hpp"
#include "measure/suites/echo_counts.hpp"
#include "measure/suites/echo_two_core.hpp"
#include "measure/suites/growth_suite.hpp"
#include "measure/suites/memory_suite.hpp"
#include "measure/suites/pollset_calls.hpp"
#include "measure/suites/pollset_counts.hpp"
#include "measure/suites/program_suite.hpp"

namespace {

void measure(bench::context& c, const std::string& suite) {
    if (suite == "echo") {
        bench::measure_echo_burst(c);
        bench::measure_echo_counts(c);
        if (!c.chosen.quick) bench::measure_echo_two_core(c);  // informative only
    } else if (suite == "spin") {
        bench::measure_spin(c);
    } else if (suite == "growth") {
        bench::measure_growth(c);
    } else if (suite == "memory") {
        bench::measure_memory(c);
    } else {
        bench::measure_programs(c, bench::program_suite_named(suite));
        if (suite == "pollset") {
            bench::measure_pollset_counts(c);
            bench::measure_pollset_calls(c);
        }
    }
}

/// Throws std::invalid_argument for a mistake that would only be noticed at the end otherwise.
void check(const bench::options& chosen) {
    for (const std::string& name : chosen.subjects) {
        const bool known =
            std::any_of(chosen.suites.begin(), chosen.suites.end(), [&](const std::string& suite) {
                const auto all = bench::subjects_of(suite, {});
                return std::any_of(all.begin(), all.end(), [&](const bench::subject& s) {
                    return s.name.starts_with(name);
                });
            });
        if (!known) throw std::invalid_argument("no subject's name begins with '" + name + "'");
    }
}

/// The children are in the process group that `benchmarks/report` has made for the driver.
void kill_group(int) {
    if (::getpgrp() == ::getpid()) ::kill(0, SIGKILL);
    ::_exit(1);
}

/// Leaves no child behind when the driver is told to end, or loses its parent.
void end_with_parent() {
    struct sigaction action{};
    action.sa_handler = kill_group;
    for (const int number : {SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
}

const char* compiler() {
#ifdef __clang__
    return "clang++ " __clang_version__;
#else
    return "g++ " __VERSION__;
#endif
}

void run(const bench::options& chosen, bench::output& out) {
    constexpr std::int64_t ns_per_s = 1'000'000'000;
    check(chosen);
    end_with_parent();
    bench::raise_fd_limit();
    out.note({"run", "machine", "name", "compiler"}, compiler());
    bench::context c{.chosen = chosen, .out = out};
    for (const std::string& suite : chosen.suites) {
        const std::int64_t begin_ns = bench::now_ns();
        measure(c, suite);
        out.took(suite, (bench::now_ns() - begin_ns) / ns_per_s);
    }
}

}  // namespace

int main(int argc, char** argv) {
    bench::output out;
    try {
        run(bench::parse_options(argc, argv), out);
        return 0;
    } catch (const std::invalid_argument& e) {
        out.failed(e.what(), true);
        return 2;
    } catch (const std::exception& e) {
        out.failed(e.what(), false);
        return 1;
    }
}
