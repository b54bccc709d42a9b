// SPDX-License-Identifier: Apache-2.0
#include "driver/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

namespace bench {

namespace {

constexpr const char* erase_line = "\r\033[K";

/// A line that wraps cannot be overwritten.
std::size_t columns() {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 79;
    return size.ws_col - 1u;
}

}  // namespace

progress::progress() : terminal_(::isatty(STDERR_FILENO) == 1) {}
progress::~progress() { clear(); }

void progress::phase(const std::string& name) {
    phase_ = name;
    if (terminal_) {
        step("");
    } else {
        std::fprintf(stderr, "%s\n", name.c_str());
    }
}

void progress::step(const std::string& what) {
    if (!terminal_) return;
    const std::string line = (phase_ + "  " + what).substr(0, columns());
    std::fprintf(stderr, "%s%s", erase_line, line.c_str());
}

void progress::clear() {
    if (terminal_) std::fputs(erase_line, stderr);
}

}  // namespace bench
