// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>

#include "common/clock.hpp"
#include "driver/check.hpp"
#include "driver/child.hpp"
#include "driver/context.hpp"
#include "driver/cores.hpp"
#include "driver/echo_burst.hpp"
#include "driver/echo_counts.hpp"
#include "driver/echo_two_core.hpp"
#include "driver/growth_suite.hpp"
#include "driver/json.hpp"
#include "driver/memory_suite.hpp"
#include "driver/plot.hpp"
#include "driver/pollset_calls.hpp"
#include "driver/pollset_counts.hpp"
#include "driver/program_suite.hpp"
#include "driver/subject.hpp"
#include "driver/targets.hpp"

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

/// Throws std::invalid_argument for what could only be noticed at the end otherwise.
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
    if (!chosen.json.empty() && !std::ofstream(chosen.json, std::ios::app)) {
        throw std::invalid_argument("cannot write '" + chosen.json + "'");
    }
}

int check_targets(const bench::results& found) {
    constexpr int exit_missed = 3;
    return bench::print_check(bench::judge(found, bench::all_targets())) ? 0 : exit_missed;
}

void write(const bench::results& found, const std::string& json) {
    if (json.empty()) return;
    const std::string plot = bench::plot_name(json);
    bench::write_json(found, json);
    bench::write_plot(found, plot);
    std::printf("written: %s, %s\n", json.c_str(), plot.c_str());
}

std::string seconds_since(std::int64_t begin_ns) {
    return std::to_string((bench::now_ns() - begin_ns) / 1'000'000'000);
}

int run(const bench::options& chosen) {
    bench::end_children_on_signals();
    bench::raise_fd_limit();
    bench::progress shown;
    bench::results found;
    bench::context c{.chosen = chosen, .shown = shown, .found = found};
    std::string times;
    for (const std::string& suite : chosen.suites) {
        const std::int64_t begin = bench::now_ns();
        measure(c, suite);
        times += (times.empty() ? " (" : ", ") + suite + " " + seconds_since(begin);
    }
    if (found.all().empty()) throw std::invalid_argument("no case's name begins like that");
    std::printf("\nmeasured in %s s%s)\n", seconds_since(c.begin_ns).c_str(), times.c_str());
    write(found, chosen.json);
    return chosen.check ? check_targets(found) : 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const bench::options chosen = bench::parse_options(argc, argv);
        if (chosen.help) {
            std::fputs(bench::usage().c_str(), stdout);
            return 0;
        }
        check(chosen);
        if (!chosen.from.empty()) {
            const bench::results found = bench::read_json(chosen.from);
            write(found, chosen.json);
            return check_targets(found);
        }
        return run(chosen);
    } catch (const std::invalid_argument& e) {
        std::fprintf(stderr, "eddy_bench: %s\n\n%s", e.what(), bench::usage().c_str());
        return 2;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "eddy_bench: %s\n", e.what());
        return 1;
    }
}
