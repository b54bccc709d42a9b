// SPDX-License-Identifier: Apache-2.0

// The demonstration that ./run shows: real work with the library on every engine.
#include "demo/echo_part.hpp"
#include "demo/parts.hpp"
#include "support/standard_fds.hpp"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <sys/resource.h>

namespace {

struct arguments {
    std::optional<unsigned short> port;
    std::size_t connections = 1000;
    double seconds = 3;
};

constexpr const char* usage =
    "usage: ./run                     show everything, in under 30 seconds\n"
    "       ./run --serve PORT        serve TCP echo on PORT until SIGINT or SIGTERM\n"
    "       ./run --connections N     with N connections instead of 1000\n"
    "       ./run --seconds S         measure each engine for S seconds instead of 3\n";

template <class Number>
bool parse(const char* text, Number& out) {
    const char* const end = text + std::strlen(text);
    const auto [rest, error] = std::from_chars(text, end, out);
    return error == std::errc() && rest == end;
}

bool parse(int argc, char** argv, arguments& out) {
    for (int i = 1; i != argc; ++i) {
        const std::string_view option = argv[i];
        if (i + 1 == argc) {
            std::fprintf(stderr, "%s needs a value, or is not an option\n", argv[i]);
            return false;
        }
        const char* const value = argv[++i];
        bool good = false;
        if (option == "--serve") {
            good = parse(value, out.port.emplace());
        } else if (option == "--connections") {
            good = parse(value, out.connections) && out.connections > 0;
        } else if (option == "--seconds") {
            good = parse(value, out.seconds) && out.seconds > 0 && out.seconds <= 60;
        } else {
            std::fprintf(stderr, "unknown option %s\n", argv[i - 1]);
            return false;
        }
        if (!good) {
            std::fprintf(stderr, "bad value for %s: %s\n", argv[i - 1], value);
            return false;
        }
    }
    return true;
}

/// Returns how many connections are possible, with both ends in this process. Raises the limit of
/// open files, and says so if it is still too low.
std::size_t affordable(std::size_t connections) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    const std::size_t most = (limit.rlim_cur - 50) / 2;
    if (connections > most) {
        std::printf("The limit of open files allows %zu connections (ulimit -n).\n", most);
        return most;
    }
    return connections;
}

void print(const std::vector<demo::echo_figures>& rows) {
    std::printf("\n%-10s %12s %10s %10s %14s %16s\n", "engine", "requests/s", "p50 us", "p99 us",
                "syscalls/req.", "allocations/req.");
    for (const demo::echo_figures& row : rows) {
        if (!row.note.empty()) {
            std::printf("%-10s n/a: %s\n", row.engine.c_str(), row.note.c_str());
            continue;
        }
        std::printf("%-10s %12.0f %10.0f %10.0f %14.2f %16.4f\n", row.engine.c_str(),
                    row.requests_per_s, row.p50_us, row.p99_us, row.syscalls_per_request,
                    row.allocations_per_request);
    }
}

int show(const arguments& asked) {
    const std::size_t connections = affordable(asked.connections);
    std::printf("1. TCP echo, 64 bytes, %zu connections, %.1f s on each engine\n", connections,
                asked.seconds);
    std::vector<demo::echo_figures> rows;
    for (const auto engine :
         {eddy::engine_kind::epoll, eddy::engine_kind::io_uring, eddy::engine_kind::poll}) {
        rows.push_back(
            demo::measure_echo(engine, connections, std::chrono::duration<double>(asked.seconds)));
    }
    std::printf("2. Timers\n");
    demo::show_timers(10'000);
    std::printf("3. Work between threads\n");
    demo::show_threads(100'000);
    std::printf("4. Signals and children\n");
    demo::show_children(200, 10'000);
    print(rows);
    return 0;
}

}  // namespace

int main(int argc, char** argv) try {
    arguments asked;
    if (!parse(argc, argv, asked)) {
        std::fprintf(stderr, "%s", usage);
        return 2;
    }
    const int status = asked.port ? demo::serve(*asked.port) : show(asked);
    if (!example::printed_all()) {
        throw std::runtime_error("cannot write to the standard output");
    }
    return status;
} catch (const std::exception& e) {
    std::fprintf(stderr, "eddy_demo: %s\n", e.what());
    return 1;
}
