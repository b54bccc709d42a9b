// SPDX-License-Identifier: Apache-2.0
#include "kernel/call.hpp"
#include "loop/loop_fixture.hpp"

#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace eddy::test::wake_test {
namespace {

class LoopWake : public LoopTest {
protected:
    /// Whether the thread of the test sleeps in the kernel.
    bool asleep() const {
        std::ifstream file("/proc/self/task/" + std::to_string(main_) + "/stat");
        std::string line;
        std::getline(file, line);
        return line.compare(line.rfind(')') + 2, 1, "S") == 0;
    }

private:
    const int main_ = ::gettid();
};
EDDY_ON_EVERY_ENGINE(LoopWake);

TEST_P(LoopWake, PostingToALoopThatDoesNotSleepMakesNoSyscall) {
    std::uint64_t made = 99;
    std::vector<std::unique_ptr<job>> jobs;
    for (int i = 0; i != 100; ++i) {
        jobs.push_back(std::make_unique<job>());
    }
    job busy([&] {  // while this callback runs, the loop is awake
        std::thread([&] {
            const auto before = kernel::calls_made();
            for (auto& one : jobs) {
                loop().post(*one);
            }
            made = kernel::calls_made() - before;
        }).join();
    });
    loop().post(busy);
    EXPECT_EQ(loop().run(run_mode::empty), 101U);
    EXPECT_EQ(made, 0U);
    EXPECT_EQ(loop().counters().wakes, 0U);
}

TEST_P(LoopWake, AfterManyWaitsWithoutAPostTheNextWakesALoopThatIsAwakeOnce) {
    // The loop has stopped saying when it is awake: one post pays for that, and those after it do
    // not.
    std::vector<std::unique_ptr<job>> jobs;
    for (int i = 0; i != 100; ++i) {
        jobs.push_back(std::make_unique<job>());
    }
    const auto calls_to_post = [&](std::size_t from, std::size_t to) {
        std::uint64_t made = 0;
        std::thread([&] {
            const auto before = kernel::calls_made();
            for (std::size_t i = from; i != to; ++i) {
                loop().post(*jobs[i]);
            }
            made = kernel::calls_made() - before;
        }).join();
        return made;
    };
    std::uint64_t first = 99;
    std::uint64_t then = 99;
    job after([&] { then = calls_to_post(50, 100); });
    alarm* next = nullptr;
    unsigned rounds = 0;
    alarm quiet(loop(), [&] {
        if (++rounds != 200) {
            loop().post_after(10us, *next);
            return;
        }
        first = calls_to_post(0, 50);
        loop().post_next(after);
    });
    next = &quiet;
    loop().post_after(10us, quiet);
    EXPECT_EQ(loop().run(run_mode::empty), 200U + 101U);
    ASSERT_GE(loop().counters().waits, 100U);
    EXPECT_EQ(first, 1U);
    EXPECT_EQ(then, 0U);
}

TEST_P(LoopWake, PostingFromTheLoopsOwnThreadMakesNoSyscall) {
    job inner;
    std::uint64_t made = 99;
    job outer([&] {
        const auto before = kernel::calls_made();
        loop().post(inner);
        made = kernel::calls_made() - before;
    });
    loop().post(outer);
    loop().run(run_mode::empty);
    EXPECT_EQ(made, 0U);
}

TEST_P(LoopWake, TheEventfdIsWrittenAtMostOncePerSleep) {
    constexpr int posts = 1000;
    std::vector<std::unique_ptr<job>> jobs;
    for (int i = 0; i != posts; ++i) {
        jobs.push_back(std::make_unique<job>());
    }
    job last([&] { loop().stop(); });
    std::uint64_t written = 0;
    std::thread other([&] {
        const auto before = kernel::calls_made();
        for (auto& one : jobs) {
            loop().post(*one);
        }
        loop().post(last);
        written = kernel::calls_made() - before;
    });
    loop().run();
    other.join();
    EXPECT_LE(written, loop().counters().waits);
    EXPECT_LE(loop().counters().wakes, written);
    EXPECT_EQ(loop().counters().posts, posts + 1U);
}

TEST_P(LoopWake, ASleepingLoopIsWokenByOneWrite) {
    // The thread of a loop that is running sleeps only when the loop does.
    std::uint64_t written = 0;
    job work([&] { loop().stop(); });
    std::atomic<bool> begun = false;
    std::thread other;
    job begin([&] {
        other = std::thread([&] {
            while (!begun || !asleep()) {
                std::this_thread::yield();
            }
            const auto before = kernel::calls_made();
            loop().post(work);
            written = kernel::calls_made() - before;
        });
        begun = true;
    });
    loop().post(begin);
    loop().run();
    other.join();
    EXPECT_EQ(written, 1U);
    EXPECT_EQ(loop().counters().wakes, 1U);
}

TEST_P(LoopWake, ALoopThatIsWokenSleepsAgain) {
    // A wake-up that is not taken in would make every later wait return at once.
    std::thread([&] { loop().stop(); }).join();
    loop().run();
    alarm far(loop());
    loop().post_after(1h, far);
    std::atomic<bool> waiting = false;
    job tell([&] { waiting = true; });
    loop().post(tell);
    std::thread other([&] {
        while (!waiting) {
            std::this_thread::yield();
        }
        loop().stop();
    });
    loop().run();
    other.join();
    // One that does not sleep makes tens of thousands; a wait that ends a little early, on a
    // crowded machine again and again, a few.
    EXPECT_LT(turns_in(20ms), 1000U);
    loop().disarm(far);
}

}  // namespace
}  // namespace eddy::test::wake_test
