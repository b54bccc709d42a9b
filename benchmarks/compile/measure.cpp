// SPDX-License-Identifier: Apache-2.0
// measure COMMAND ARGUMENT...: runs the command, and prints how long that took, and how much memory
// the greediest of its processes had.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "common/clock.hpp"
#include "common/die.hpp"
#include "common/program.hpp"

namespace {

double seconds(const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) bench::arguments(argc, argv).wrong();
    const std::int64_t begin = bench::now_ns();
    const pid_t child = bench::must(::fork(), "fork");
    if (child == 0) {
        ::execvp(argv[1], argv + 1);
        bench::die(argv[1]);
    }
    int status = 0;
    rusage used{};
    while (::wait4(child, &status, 0, &used) < 0) {
        if (errno != EINTR) bench::die("wait4");
    }
    if (status != 0) {
        std::fprintf(stderr, "%s failed\n", argv[1]);
        return 1;
    }
    bench::print_metric("wall_s", static_cast<double>(bench::now_ns() - begin) / 1e9);
    bench::print_metric("cpu_s", seconds(used.ru_utime) + seconds(used.ru_stime));
    bench::print_metric("peak_mib", static_cast<double>(used.ru_maxrss) / 1024);
    return 0;
}
