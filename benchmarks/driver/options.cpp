// SPDX-License-Identifier: Apache-2.0
#include "driver/options.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>
#include <string_view>

namespace bench {

namespace {

constexpr std::array<std::string_view, 14> known_suites{
    "echo",   "spin",  "post",   "timer", "churn", "pollset", "spawn",
    "signal", "share", "memory", "await", "grpc",  "compile", "growth"};

bool is_suite(std::string_view name) {
    return std::find(known_suites.begin(), known_suites.end(), name) != known_suites.end();
}

/// "a" is in the list if the list is empty, or holds "a" or a beginning of it.
bool wanted(const std::vector<std::string>& list, const std::string& name) {
    return list.empty() || std::any_of(list.begin(), list.end(), [&](const std::string& prefix) {
               return name.starts_with(prefix);
           });
}

/// The programs of a build find the library of this one, where theirs is missing.
std::string build_in(const std::string& folder) {
    std::error_code error;
    const auto build = std::filesystem::canonical(folder, error);
    if (error || !std::filesystem::exists(build / "libeddy.so", error) ||
        !std::filesystem::exists(build / "bench", error)) {
        throw std::invalid_argument("'" + folder +
                                    "' is no build of the bench preset: libeddy.so " +
                                    "and bench/ have to be there");
    }
    return build;
}

}  // namespace

bool options::wants_subject(const std::string& name) const { return wanted(subjects, name); }
bool options::wants_case(const std::string& name) const { return wanted(cases, name); }

options parse_options(int argc, char** argv) {
    options o;
    for (int i = 1; i < argc; ++i) {
        const std::string_view a = argv[i];
        const auto value = [&]() -> std::string {
            if (++i == argc || argv[i][0] == '\0' || argv[i][0] == '-') {
                throw std::invalid_argument(std::string(a) + " needs a value");
            }
            return argv[i];
        };
        if (a == "--help" || a == "-h") {
            o.help = true;
        } else if (a == "--quick") {
            o.quick = true;
        } else if (a == "--json") {
            o.json = value();
        } else if (a == "--check") {
            o.check = true;
        } else if (a == "--before") {
            o.before = build_in(value());
        } else if (a == "--from") {
            o.from = value();
            o.check = true;
        } else if (a == "--subject") {
            o.subjects.push_back(value());
        } else if (a == "--case") {
            o.cases.push_back(value());
        } else if (is_suite(a)) {
            if (std::find(o.suites.begin(), o.suites.end(), a) == o.suites.end()) {
                o.suites.emplace_back(a);
            }
        } else {
            throw std::invalid_argument("unknown argument '" + std::string(a) + "'");
        }
    }
    if (o.suites.empty()) o.suites.assign(known_suites.begin(), known_suites.end());
    return o;
}

std::string usage() {
    return "usage: eddy_bench [--quick] [--json FILE] [--check] [--from FILE] "
           "[--subject NAME]...\n"
           "                  [--case NAME]... [--before DIR] [SUITE...]\n"
           "\n"
           "Measures eddy, the bare kernel interface and other event libraries side by side.\n"
           "\n"
           "  SUITE        echo, spin, post, timer, churn, pollset, spawn, signal, share,\n"
           "               memory, await, grpc, compile, growth; none: all of them\n"
           "  --quick      fewer rounds: all suites in under three minutes\n"
           "  --json FILE  writes one line for each value, and a plot next to it (.svg)\n"
           "  --check      then compares with what was promised (driver/targets.cpp); exit 3: a\n"
           "               promise is missed by more than the noise\n"
           "  --before DIR eddy's rows once more, `_before`, from another build (a copy of "
           "build/bench)\n"
           "  --from FILE  checks what --json wrote earlier, and measures nothing; with --json "
           "OTHER it\n"
           "               is written and plotted there again\n"
           "  --subject    only subjects whose names begin so (and the reference, always)\n"
           "  --case       only cases whose names begin so, such as 50x64B\n";
}

}  // namespace bench
