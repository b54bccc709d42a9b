#include "support/patience.hpp"
#include "support/with_every_allocation_failing.hpp"

#include <csignal>
#include <cstdio>

#include <unistd.h>

namespace eddy::test {

namespace {

constinit memory_fault current{};

void report(int signal) {
    char text[160];
    const int size = std::snprintf(
        text, sizeof text, "%s while allocation %llu failed%s\n",
        signal == SIGALRM ? "a hang" : "a crash", static_cast<unsigned long long>(current.nth),
        current.often == memory_faults::how::once ? "" : ", and all after it");
    static_cast<void>(!::write(STDERR_FILENO, text, static_cast<std::size_t>(size)));
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

}  // namespace

crash_reporter::crash_reporter(const memory_fault& fault) noexcept {
    current = fault;
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
