// SPDX-License-Identifier: Apache-2.0
// Entering an io_uring that has nothing to do: by its fd, and by the number that it was registered
// with in the thread.

#include <benchmark/benchmark.h>
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "common/unique_fd.hpp"

namespace {

constexpr unsigned register_ring = 20;    // IORING_REGISTER_RING_FDS, 5.18
constexpr unsigned registered = 1U << 4;  // IORING_ENTER_REGISTERED_RING
constexpr unsigned deferred = 3U << 12;   // IORING_SETUP_SINGLE_ISSUER | DEFER_TASKRUN, 6.1

void enter(benchmark::State& state, int ring, unsigned flags) {
    for (auto _ : state) {
        ::syscall(SYS_io_uring_enter, ring, 0, 0, IORING_ENTER_GETEVENTS | flags, nullptr, 0);
    }
}

void enter_by_fd(benchmark::State& state) {
    io_uring_params parameters{};
    parameters.flags = deferred;
    const bench::unique_fd ring(static_cast<int>(::syscall(SYS_io_uring_setup, 8, &parameters)));
    if (ring.get() < 0) return state.SkipWithError("no io_uring of this kind here");
    enter(state, ring.get(), 0);
}

void enter_registered(benchmark::State& state) {
    io_uring_params parameters{};
    parameters.flags = deferred;
    const bench::unique_fd ring(static_cast<int>(::syscall(SYS_io_uring_setup, 8, &parameters)));
    if (ring.get() < 0) return state.SkipWithError("no io_uring of this kind here");
    io_uring_rsrc_update place{};
    place.offset = UINT32_MAX;  // wherever there is room
    place.data = static_cast<__u64>(ring.get());
    if (::syscall(SYS_io_uring_register, ring.get(), register_ring, &place, 1) != 1) {
        return state.SkipWithError("the kernel registers no rings");
    }
    enter(state, static_cast<int>(place.offset), registered);
}

BENCHMARK(enter_by_fd);
BENCHMARK(enter_registered);

}  // namespace
