// SPDX-License-Identifier: Apache-2.0
#include "support/engine_fixture.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace eddy::test::registered_ring_test {
namespace {

/// How many rings a thread can register.
constexpr std::size_t places = 16;

/// How many more this thread can register now: tries, and takes it back.
std::size_t free_places() {
    constexpr unsigned register_rings = 20;
    constexpr unsigned unregister_rings = 21;
    io_uring_params parameters{};
    const unique_fd ring(static_cast<int>(::syscall(SYS_io_uring_setup, 1, &parameters)));
    EXPECT_TRUE(ring);
    std::vector<io_uring_rsrc_update> taken;
    while (taken.size() < 2 * places) {
        io_uring_rsrc_update place{};
        place.offset = UINT32_MAX;  // wherever there is room
        place.data = static_cast<__u64>(ring.get());
        if (::syscall(SYS_io_uring_register, ring.get(), register_rings, &place, 1) != 1) {
            break;
        }
        taken.push_back(place);
    }
    for (io_uring_rsrc_update& place : taken) {
        place.data = 0;
        EXPECT_EQ(::syscall(SYS_io_uring_register, ring.get(), unregister_rings, &place, 1), 1);
    }
    return taken.size();
}

/// A loop that runs for a while enters the kernel by a number of its thread.
class RegisteredRing : public EngineTest {
protected:
    void SetUp() override {
        EngineTest::SetUp();
        if (!IsSkipped() && free_places() == 0) {
            GTEST_SKIP() << "this kernel registers no rings (5.18 does)";
        }
    }

    /// Runs until the kernel was asked so often, then calls `inside`.
    void run_turns(unsigned count, const std::function<void()>& inside) {
        fd_pair pair = unix_stream_pair();
        const descriptor d = attach(std::move(pair.first));
        std::array<std::byte, 1> buffer{};
        std::function<void()> turn;
        recorder received([&](recorder&) { loop().post(turn); });
        turn = [&] {
            if (count-- == 0) {
                inside();
                loop().stop();
                return;
            }
            write_all(pair.second.get(), "x");
            start(received, recv(d, buffer));
        };
        loop().post(turn);
        loop().run();
    }
    std::size_t free_in_run_of(unsigned turns) {
        std::size_t found = 0;
        run_turns(turns, [&] { found = free_places(); });
        return found;
    }
};
INSTANTIATE_TEST_SUITE_P(Engine, RegisteredRing, ::testing::Values(engine_kind::io_uring),
                         engine_name);

TEST_P(RegisteredRing, IsThereWhileARunLasts) {
    EXPECT_EQ(free_in_run_of(1), places);
    EXPECT_EQ(free_in_run_of(200), places - 1);
    EXPECT_EQ(free_places(), places);
}

/// Each of these asks the kernel too.
TEST_P(RegisteredRing, IsNotThereForWhatIsTakenBackOutsideOfARun) {
    fd_pair pair = unix_stream_pair();
    const descriptor d = attach(std::move(pair.first));
    std::deque<recorder> waits(200);
    for (recorder& one : waits) {
        start(one, wait(d, interest::readable));
    }
    settle();
    for (recorder& one : waits) {
        loop().abandon(one.operation());
    }
    EXPECT_EQ(free_places(), places);
}

TEST_P(RegisteredRing, GoesOnWithAnotherThread) {
    EXPECT_EQ(free_in_run_of(200), places - 1);
    std::size_t there = 0;
    std::thread([&] { there = free_in_run_of(200); }).join();
    EXPECT_EQ(there, places - 1);
    EXPECT_EQ(free_in_run_of(200), places - 1);
}

}  // namespace
}  // namespace eddy::test::registered_ring_test
