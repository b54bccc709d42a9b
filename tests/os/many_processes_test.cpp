// SPDX-License-Identifier: Apache-2.0
#include "os/process_fixture.hpp"
#include "support/random.hpp"

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

namespace eddy::test::many_processes_test {
namespace {

class ManyProcesses : public ProcessTest {
protected:
    /// Spawns that many, a few at a time, and waits for the end of each.
    void spawn_and_wait(int count) {
        struct running {
            process_handle process;
            exit_recorder wait;
        };
        std::deque<std::unique_ptr<running>> all;
        int ended = 0;
        const auto finish_first = [&] {
            ASSERT_TRUE(until([&] { return all.front()->wait.ended(); }));
            EXPECT_FALSE(all.front()->wait.error());
            ended += all.front()->wait.status().success() ? 1 : 0;
            all.pop_front();
        };
        for (int i = 0; i != count && !HasFatalFailure(); ++i) {
            all.push_back(std::make_unique<running>());
            all.back()->process = spawn({.program = "/bin/true"});
            all.back()->process.start(all.back()->wait.wait());
            if (all.size() == 8) {
                finish_first();
            }
        }
        const std::size_t fds = open_fds();
        EXPECT_LT(fds, 40U);
        while (!all.empty() && !HasFatalFailure()) {
            finish_first();
        }
        EXPECT_EQ(ended, count);
        EXPECT_FALSE(has_children());
    }

    /// That many end at once while other code takes whatever child it can.
    void end_at_once(int count) {
        auto [reader, writer] = make_pipe();
        std::vector<process_handle> processes;
        std::vector<std::unique_ptr<exit_recorder>> waits;
        for (int i = 0; i != count; ++i) {
            process_options options = shell("read x; exit " + std::to_string(i % 200));
            options.in = stdio::given(reader.get());
            processes.push_back(spawn(options));
            waits.push_back(std::make_unique<exit_recorder>(processes.back()));
        }
        std::atomic<bool> over{false};
        std::atomic<int> stolen{0};
        const bool kept = keeps_status();
        std::thread thief([&] {
            while (!over.load()) {
                stolen += ::waitpid(-1, nullptr, WNOHANG) > 0 ? 1 : 0;
            }
        });
        writer.reset();
        const bool all_ended = until(
            [&] {
                return std::all_of(waits.begin(), waits.end(),
                                   [](const auto& wait) { return wait->ended(); });
            },
            60s);
        over = true;
        thief.join();
        ASSERT_TRUE(all_ended);
        int without_usage = 0;
        for (int i = 0; i != count; ++i) {
            const exit_recorder& wait = *waits[static_cast<std::size_t>(i)];
            EXPECT_EQ(wait.endings(), 1);
            without_usage += !wait.error() && !wait.status().has_usage ? 1 : 0;
            if (wait.error()) {
                EXPECT_FALSE(kept) << wait.error().message();
                EXPECT_EQ(wait.error(), std::errc::no_child_process);
                ++without_usage;
            } else {
                EXPECT_EQ(wait.status().code, i % 200);
            }
        }
        EXPECT_EQ(without_usage, stolen.load());
    }
};
EDDY_ON_EVERY_ENGINE(ManyProcesses);

// On three engines that makes 2,100, and 102,000 at length; 1,000 end at once on each.

TEST_P(ManyProcesses, NoneIsLostAndNothingIsLeft) { spawn_and_wait(700); }

TEST_P(ManyProcesses, TheirEndsArriveThoughOthersReap) { end_at_once(1000); }

class LongManyProcesses : public ManyProcesses {};
EDDY_ON_EVERY_ENGINE(LongManyProcesses);

TEST_P(LongManyProcesses, NoneIsLostAndNothingIsLeft) { spawn_and_wait(34'000); }

}  // namespace
}  // namespace eddy::test::many_processes_test
