// SPDX-License-Identifier: Apache-2.0
#include "support/crash_reporter.hpp"

#include "support/patience.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdio>

#include <unistd.h>

namespace eddy::test {

namespace {

constinit std::array<char, 400> current{};

void report(int signal) {
    char text[480];
    const int size = std::snprintf(text, sizeof text, "%s while %s\n",
                                   signal == SIGALRM ? "a hang" : "a crash", current.data());
    static_cast<void>(!::write(STDERR_FILENO, text, static_cast<std::size_t>(size)));
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

}  // namespace

crash_reporter::crash_reporter(std::string_view tried) noexcept {
    tried = tried.substr(0, current.size() - 1);
    *std::ranges::copy(tried, current.begin()).out = '\0';
    std::signal(SIGABRT, &report);
    std::signal(SIGSEGV, &report);
    std::signal(SIGALRM, &report);
    ::alarm(static_cast<unsigned>(patience.count()));
}

crash_reporter::~crash_reporter() {
    ::alarm(0);
    std::signal(SIGABRT, SIG_DFL);
    std::signal(SIGSEGV, SIG_DFL);
}

}  // namespace eddy::test
