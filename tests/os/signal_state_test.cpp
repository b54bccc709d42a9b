// SPDX-License-Identifier: Apache-2.0
#include "os/process_fixture.hpp"

#include <eddy/os/block_signals.hpp>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <thread>
#include <vector>

namespace eddy::test::signal_state_test {
namespace {

/// What a new process finds of signals: its parent's must not show.
class SignalStateTest : public ProcessTest {
protected:
    struct signal_state {
        std::uint64_t blocked = 0;
        std::uint64_t ignored = 0;
        std::uint64_t caught = 0;
    };
    signal_state state_in(process_options options) {
        options.program = "cat";
        options.arguments = {"/proc/self/status"};
        const std::string status = output_of(options);
        const auto bits = [&](const char* name) {
            const std::size_t at = status.find(name);
            EXPECT_NE(at, std::string::npos) << name;
            return std::strtoull(status.c_str() + at + std::strlen(name), nullptr, 16);
        };
        return {bits("SigBlk:"), bits("SigIgn:"), bits("SigCgt:")};
    }
    static std::uint64_t bit(int signal) { return std::uint64_t{1} << (signal - 1); }
};
EDDY_ON_EVERY_ENGINE(SignalStateTest);

TEST_P(SignalStateTest, TheMaskIsTheOriginalOneOrTheOneThatIsGiven) {
    block_signals({SIGUSR1});
    EXPECT_EQ(state_in({}).blocked, 0U);
    process_options options;
    options.blocked_signals = {SIGUSR2};
    EXPECT_EQ(state_in(options).blocked, bit(SIGUSR2));
    const sigset_t usr1 = signal_set{SIGUSR1};
    sigset_t now;
    ::pthread_sigmask(SIG_UNBLOCK, &usr1, &now);
    EXPECT_EQ(signal_set(now), signal_set{SIGUSR1}) << "the parent's mask was not put back";
}

TEST_P(SignalStateTest, NothingIsCaughtOrIgnored) {
    const auto before = ::signal(SIGUSR1, [](int) {});
    const auto before_ignored = ::signal(SIGUSR2, SIG_IGN);
    const signal_state state = state_in({});
    EXPECT_EQ(state.ignored, 0U);
    EXPECT_EQ(state.caught, 0U);
    process_options options;
    options.keep_ignored_signals = true;
    EXPECT_EQ(state_in(options).ignored & bit(SIGUSR2), bit(SIGUSR2));
    ::signal(SIGUSR1, before);
    ::signal(SIGUSR2, before_ignored);
}

std::atomic<int> handled{0};
std::atomic<pid_t> handled_in_another{0};
pid_t test_process = 0;

TEST_P(SignalStateTest, NoHandlerOfTheParentRunsInTheChild) {
    test_process = ::getpid();
    handled = 0;
    const auto before = ::signal(SIGUSR1, [](int) {
        handled.fetch_add(1);
        if (const pid_t where = ::getpid(); where != test_process) {
            handled_in_another = where;
        }
    });
    // To the whole group, so that the child gets it too, whenever it comes.
    EXPECT_EQ(in_child([&] {
                  ::setpgid(0, 0);
                  test_process = ::getpid();
                  std::atomic<bool> over{false};
                  std::thread sender([&] {
                      while (!over.load()) {
                          ::kill(0, SIGUSR1);
                      }
                  });
                  eddy::loop own({.engine = GetParam()});
                  for (int i = 0; i != 100; ++i) {
                      process_handle process(own, {.program = "true"});
                      exit_recorder wait(process);
                      own.run(run_mode::empty, {.until = clock::now() + patience});
                      EXPECT_TRUE(wait.ended());
                      EXPECT_TRUE(wait.status().success() || wait.status().signal == SIGUSR1);
                  }
                  over = true;
                  sender.join();
                  EXPECT_GT(handled.load(), 0);
                  EXPECT_EQ(handled_in_another.load(), 0);
                  return 0;
              }),
              0);
    ::signal(SIGUSR1, before);
}

TEST_P(SignalStateTest, TheEndIsSeenThoughSigchldIsIgnored) {
    const bool kept = keeps_status();
    const auto before = ::signal(SIGCHLD, SIG_IGN);  // then the kernel reaps
    std::vector<process_handle> processes;
    std::deque<exit_recorder> waits;
    for (int i = 0; i != 50; ++i) {
        processes.push_back(spawn(shell("exit 8")));
        waits.emplace_back(processes.back());
    }
    for (const exit_recorder& wait : waits) {
        EXPECT_TRUE(until([&] { return wait.ended(); }));
        if (kept) {
            EXPECT_FALSE(wait.error()) << wait.error().message();
            EXPECT_EQ(wait.status().code, 8);
        } else {
            EXPECT_EQ(wait.error(), std::errc::no_child_process);
        }
    }
    ::signal(SIGCHLD, before);
}

}  // namespace
}  // namespace eddy::test::signal_state_test
