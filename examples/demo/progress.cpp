// SPDX-License-Identifier: Apache-2.0

// Shows progress in one line, which a terminal overwrites.
#include "demo/progress.hpp"

#include <cstdio>

#include <unistd.h>

namespace demo {

void progress_line::show(const std::string& text) {
    static const bool terminal = ::isatty(STDOUT_FILENO) == 1;
    if (terminal) {
        std::printf("\r\033[K%s", text.c_str());
        std::fflush(stdout);
    }
}

void progress_line::end(const std::string& text) {
    show("");
    std::printf("%s\n", text.c_str());
    std::fflush(stdout);
}

}  // namespace demo
