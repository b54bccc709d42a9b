// SPDX-License-Identifier: Apache-2.0
// A receive that finds nothing: by the C library, and without it. `_two_threads`: while the process
// has another one, which sleeps.

#include <benchmark/benchmark.h>
#include <sys/socket.h>

#include <semaphore>
#include <thread>

#include "common/unique_fd.hpp"
#include "kernel/direct.hpp"

namespace {

struct pair_of_sockets {
    pair_of_sockets() {
        int ends[2] = {-1, -1};
        ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
        first = bench::unique_fd(ends[0]);
        second = bench::unique_fd(ends[1]);
    }
    bench::unique_fd first;
    bench::unique_fd second;
};

void by_libc(benchmark::State& state) {
    const pair_of_sockets pair;
    char byte = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(::recv(pair.first.get(), &byte, 1, MSG_DONTWAIT));
    }
}

void direct(benchmark::State& state) {
    const pair_of_sockets pair;
    char byte = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(
            eddy::kernel::direct::recv(pair.first.get(), &byte, 1, MSG_DONTWAIT).raw());
    }
}

template <class Function>
void with_another_thread(benchmark::State& state, Function&& measure) {
    std::binary_semaphore end(0);
    std::jthread other([&] { end.acquire(); });
    measure(state);
    end.release();
}

void recv_by_libc(benchmark::State& state) { by_libc(state); }
void recv_direct(benchmark::State& state) { direct(state); }
void recv_by_libc_two_threads(benchmark::State& state) { with_another_thread(state, by_libc); }
void recv_direct_two_threads(benchmark::State& state) { with_another_thread(state, direct); }

// The C library asks whether there was a second thread ever: those without one come first.
BENCHMARK(recv_by_libc);
BENCHMARK(recv_direct);
BENCHMARK(recv_by_libc_two_threads);
BENCHMARK(recv_direct_two_threads);

}  // namespace
