// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace bench {

/// Exit status of a subject that cannot run here at all (io_uring denied): the driver prints "n/a"
/// with the last line of stderr as the reason, and goes on with the others.
inline constexpr int exit_unavailable = 77;

[[noreturn]] inline void die(const char* what, int error = errno) {
    std::fprintf(stderr, "%s: %s\n", what, std::strerror(error));
    std::exit(1);
}

[[noreturn]] inline void unavailable(const char* what, int error) {
    std::fprintf(stderr, "%s: %s\n", what, std::strerror(error));
    std::exit(exit_unavailable);
}

/// For calls that return -1 on failure: `int fd = must(socket(...), "socket");`
template <class T>
T must(T result, const char* what) {
    if (result < 0) die(what);
    return result;
}

}  // namespace bench
