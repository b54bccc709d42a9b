// SPDX-License-Identifier: Apache-2.0
#include "os/process_fixture.hpp"

#include "kernel/process.hpp"

#include <cerrno>
#include <csignal>
#include <fstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace eddy::test::exit_test {
namespace {

class ExitTest : public ProcessTest {};
EDDY_ON_EVERY_ENGINE(ExitTest);

constexpr auto canceled = std::errc::operation_canceled;

TEST_P(ExitTest, TellsTheExitCode) {
    const exit_status status = run(shell("exit 42"));
    EXPECT_TRUE(status.exited());
    EXPECT_FALSE(status.success());
    EXPECT_EQ(status.code, 42);
    EXPECT_EQ(status.signal, 0);
    EXPECT_TRUE(run({.program = "true"}).success());
}

TEST_P(ExitTest, TellsTheSignalAndTheCore) {
    const exit_status killed = run(shell("kill -KILL $$"));
    EXPECT_TRUE(killed.known);
    EXPECT_FALSE(killed.exited());
    EXPECT_EQ(killed.signal, SIGKILL);
    EXPECT_FALSE(killed.core);
    const scratch_directory directory;
    process_options options = shell("kill -ABRT $$");
    options.limits = {{RLIMIT_CORE, 0, 0}};
    options.directory = directory.path();
    const exit_status aborted = run(options);
    EXPECT_EQ(aborted.signal, SIGABRT);
    EXPECT_FALSE(aborted.core);
}

/// Whether this kernel writes a core into the directory of a process that aborts there: the pattern
/// may name a program or another place, and the hard limit may forbid it.
bool core_is_written(const std::string& directory) {
    const pid_t pid = ::fork();
    if (pid == 0) {
        const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
        if (::setrlimit(RLIMIT_CORE, &unlimited) == 0 && ::chdir(directory.c_str()) == 0) {
            ::execl("/bin/sh", "sh", "-c", "kill -ABRT $$", nullptr);
        }
        ::_exit(0);
    }
    int status = 0;
    return ::waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WCOREDUMP(status);
}

TEST_P(ExitTest, TellsThatACoreWasWritten) {
    std::string pattern;
    std::ifstream("/proc/sys/kernel/core_pattern") >> pattern;
    const scratch_directory directory;
    if (pattern.find_first_of("|/") != std::string::npos || !core_is_written(directory.path())) {
        GTEST_SKIP() << "no core is written here: " << pattern;
    }
    process_options options = shell("kill -ABRT $$");
    options.limits = {{RLIMIT_CORE, RLIM_INFINITY, RLIM_INFINITY}};
    options.directory = directory.path();
    const exit_status aborted = run(options);
    EXPECT_EQ(aborted.signal, SIGABRT);
    EXPECT_TRUE(aborted.core);
}

TEST_P(ExitTest, TellsWhatItHasUsed) {
    const exit_status status = run(shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"));
    ASSERT_TRUE(status.has_usage);
    EXPECT_GT(status.usage.ru_utime.tv_sec * 1'000'000 + status.usage.ru_utime.tv_usec, 0);
    EXPECT_GT(status.usage.ru_maxrss, 0);
}

TEST_P(ExitTest, SeveralWaitsAndLateOnesAllGetIt) {
    process_options options = shell("read x; exit 5");
    options.in = stdio::pipe();
    process_handle process = spawn(options);
    exit_recorder first(process);
    exit_recorder second(process);
    settle();
    EXPECT_FALSE(first.ended());
    process.stdio_pipe(0).close();
    ASSERT_TRUE(until([&] { return first.ended() && second.ended(); }));
    EXPECT_EQ(first.status().code, 5);
    EXPECT_EQ(second.status().code, 5);
    EXPECT_EQ(end_of(process).code, 5);
    EXPECT_TRUE(end_of(process).has_usage);
    EXPECT_EQ(first.endings() + second.endings(), 2);
}

TEST_P(ExitTest, AWaitThatIsCancelledTakesNothingAway) {
    process_handle process = spawn(sleeper());
    exit_recorder one(process);
    exit_recorder other(process);
    settle();
    one.wait().cancel();
    ASSERT_TRUE(until([&] { return one.ended(); }));
    EXPECT_EQ(one.error(), canceled);
    EXPECT_FALSE(other.ended());
    EXPECT_FALSE(process.send_signal(SIGTERM));
    ASSERT_TRUE(until([&] { return other.ended(); }));
    EXPECT_EQ(other.status().signal, SIGTERM);
}

TEST_P(ExitTest, AWaitKeepsTheLoopGoingAndTheWatchDoesNot) {
    process_handle process = spawn(sleeper());
    EXPECT_EQ(loop().run(run_mode::empty), 0U);
    EXPECT_FALSE(process.send_signal(SIGKILL));
    exit_recorder wait(process);
    loop().run(run_mode::empty, {.until = clock::now() + patience});
    EXPECT_EQ(wait.status().signal, SIGKILL);
}

TEST_P(ExitTest, AnEndThatNobodyWaitsForIsReaped) {
    process_handle process = spawn({.program = "true"});
    EXPECT_TRUE(all_reaped());
    EXPECT_TRUE(end_of(process).success());
}

TEST_P(ExitTest, WithoutItsHandleItLivesOnAndIsReaped) {
    process_options options = shell("read x; exit 5");
    auto [reader, writer] = make_pipe();
    options.in = stdio::given(reader.get());
    process_handle process = spawn(options);
    exit_recorder wait(process);
    settle();
    process.close();
    ASSERT_TRUE(until([&] { return wait.ended(); }));
    EXPECT_EQ(wait.error(), canceled);
    reader.reset();
    loop().run_for(10ms);
    EXPECT_TRUE(has_children());
    writer.reset();
    EXPECT_TRUE(all_reaped());
}

/// A shell in a group of its own, and a child of it that holds our pipe open.
process_options group_of_two(std::string script) {
    process_options options{.program = "/bin/sh", .arguments = {"-c", std::move(script)}};
    options.out = stdio::pipe();
    options.process_group = 0;
    options.kill_group_on_destroy = true;
    return options;
}

TEST_P(ExitTest, WithoutItsHandleItsWholeGroupIsKilledIfThatWasAsked) {
    process_handle process = spawn(group_of_two("sleep 1000 & echo; sleep 1000"));
    const descriptor output = std::move(process.stdio_pipe(1));
    std::string line(1, 0);
    recorder begun;
    start(begun, read(output, bytes(line)));
    ASSERT_TRUE(ends(begun));
    process.close();
    EXPECT_EQ(read_to_end(output), "");  // ends only when both are gone
    EXPECT_TRUE(all_reaped());
}

TEST_P(ExitTest, ItsGroupIsKilledAlsoIfItHasEndedBefore) {
    process_handle process = spawn(group_of_two("sleep 1000 & exit 3"));
    const descriptor output = std::move(process.stdio_pipe(1));
    EXPECT_EQ(end_of(process).code, 3);
    if (kernel::signal_group(process.get_descriptor().native_handle(), -1, 0) ==
        std::errc::invalid_argument) {
        ::kill(-process.pid(), SIGKILL);  // nobody had the time to take the number
        GTEST_SKIP() << "Linux before 6.9";
    }
    process.close();
    EXPECT_EQ(read_to_end(output), "");
}

TEST_P(ExitTest, ItIsKilledAlsoIfItHasLeftTheGroupThatIsKilledWithIt) {
    process_options options = group_of_two("");
    options.program = "perl";
    options.arguments = {"-e", "setpgrp(0, getpgrp(getppid)) or die; syswrite(STDOUT, 'x'); sleep"};
    process_handle process = spawn(options);
    const descriptor output = std::move(process.stdio_pipe(1));
    std::string left(1, 0);
    recorder begun;
    start(begun, read(output, bytes(left)));
    ASSERT_TRUE(ends(begun));
    ASSERT_EQ(left, "x");
    ASSERT_EQ(::getpgid(process.pid()), ::getpgrp());
    const unique_fd itself = [&] {
        unique_fd made;
        EXPECT_FALSE(kernel::open_pidfd(process.pid(), made));
        return made;
    }();
    process.close();
    const bool killed = all_reaped();
    EXPECT_TRUE(killed);
    if (!killed) {
        static_cast<void>(kernel::signal_pidfd(itself.get(), SIGKILL));
    }
}

/// Before Linux 6.9 a group has only its number, which may be that of another group then.
TEST_P(ExitTest, TheNumberOfAGroupWhoseLeaderOthersHaveReapedIsNotUsed) {
    process_options options{.program = "true"};
    options.process_group = 0;
    options.kill_group_on_destroy = true;
    process_handle process = spawn(options);
    ASSERT_EQ(::waitpid(process.pid(), nullptr, 0), process.pid());
    kernel::fail(kernel::call::pidfd_signal_group, EINVAL);
    kernel::fail(kernel::call::kill, EPERM, 0, 1000);
    process.close();
    EXPECT_EQ(kernel::fired(kernel::call::pidfd_signal_group), 1U);
    EXPECT_EQ(kernel::fired(kernel::call::kill), 0U);
    kernel::fail_nothing();
}

TEST_P(ExitTest, TheGroupOfAnEndedLeaderThatIsNotReapedIsKilledByItsNumber) {
    process_handle process = spawn(group_of_two("sleep 1000 & exit 3"));
    const descriptor output = std::move(process.stdio_pipe(1));
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(process.pid()), &info, WEXITED | WNOWAIT), 0);
    kernel::fail(kernel::call::pidfd_signal_group, EINVAL);
    process.close();
    kernel::fail_nothing();
    EXPECT_EQ(read_to_end(output), "");
    EXPECT_TRUE(all_reaped());
}

TEST_P(ExitTest, OnlyAGroupOfItsOwnCanBeKilledWithIt) {
    process_options options = sleeper();
    options.kill_group_on_destroy = true;
    EXPECT_EQ(failure_of(options).first, std::errc::invalid_argument);
    options.process_group = ::getpgrp();
    EXPECT_EQ(failure_of(options).first, std::errc::invalid_argument);
    options.process_group.reset();
    options.new_session = true;
    process_handle process = spawn(options);
    EXPECT_TRUE(process);
}

TEST_P(ExitTest, WithoutItsHandleItIsKilledIfThatWasAsked) {
    process_handle process = spawn(sleeper());
    process.close();
    EXPECT_TRUE(all_reaped());
}

TEST_P(ExitTest, WhoeverOutlivesTheLoopIsReapedByALaterSpawn) {
    auto [reader, writer] = make_pipe();
    process_options options{.program = "cat"};
    options.in = stdio::given(reader.get());
    spawn(options).close();
    end_loop();
    EXPECT_TRUE(has_children());
    writer.reset();
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
    EXPECT_TRUE(run({.program = "true"}).success());
    EXPECT_FALSE(has_children());
}

TEST_P(ExitTest, TheEndOfTheLoopCancelsTheWait) {
    auto [reader, writer] = make_pipe();
    process_options options{.program = "cat"};
    options.in = stdio::given(reader.get());
    process_handle process = spawn(options);
    exit_recorder wait(process);
    settle();
    process.close();
    end_loop();
    EXPECT_EQ(wait.endings(), 1);
    EXPECT_EQ(wait.error(), canceled);
    writer.reset();
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
    EXPECT_TRUE(run({.program = "true"}).success());
    EXPECT_FALSE(has_children());
}

TEST_P(ExitTest, AWaitWhoseHandleKillsTheProcessEndsOnce) {
    process_handle process = spawn(sleeper());
    exit_recorder wait(process);
    settle();
    process.close();
    end_loop();
    EXPECT_EQ(wait.endings(), 1);
    // The end may be there before the cancellation.
    EXPECT_TRUE(wait.error() ? wait.error() == canceled : wait.status().signal == SIGKILL)
        << wait.error().message() << ", signal " << wait.status().signal;
    siginfo_t info{};
    // The loop may have reaped it on its way out; if not, the next spawn does.
    EXPECT_TRUE(::waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0 || errno == ECHILD);
    EXPECT_TRUE(run({.program = "true"}).success());
    EXPECT_FALSE(has_children());
}

TEST_P(ExitTest, ADrainEndsTheWaitAndALaterOneStillGetsTheStatus) {
    process_handle process = spawn(sleeper());
    exit_recorder wait(process);
    loop().stop();
    loop().run(run_mode::drained);
    EXPECT_EQ(wait.error(), canceled);
    EXPECT_FALSE(process.send_signal(SIGKILL));
    EXPECT_EQ(end_of(process).signal, SIGKILL);
}

TEST_P(ExitTest, AfterADrainTheNextRunReapsWhatNobodyWaitsFor) {
    auto [reader, writer] = make_pipe();
    process_options options{.program = "cat"};
    options.in = stdio::given(reader.get());
    process_handle kept = spawn(options);
    spawn(options).close();
    for (int drains = 0; drains != 2; ++drains) {
        loop().stop();
        loop().run(run_mode::drained);
    }
    EXPECT_EQ(loop().run(run_mode::empty), 0U);
    writer.reset();
    EXPECT_TRUE(all_reaped());
    EXPECT_TRUE(end_of(kept).success());
}

TEST_P(ExitTest, AfterADrainThatALimitCutShortItIsReapedToo) {
    process_handle process = spawn(sleeper());
    exit_recorder wait(process);
    settle();
    loop().stop();
    loop().run(run_mode::drained, {.completions = 1});
    EXPECT_FALSE(process.send_signal(SIGKILL));
    EXPECT_TRUE(all_reaped());
}

TEST_P(ExitTest, AHandleMayGoBetweenADrainAndTheNextRun) {
    process_handle process = spawn(sleeper());
    loop().stop();
    loop().run(run_mode::drained);
    process.close();
    EXPECT_TRUE(all_reaped());
}

TEST_P(ExitTest, ALoopThatDrainedMayEndWithoutAnotherRun) {
    process_options options{.program = "cat"};
    auto [reader, writer] = make_pipe();
    options.in = stdio::given(reader.get());
    pid_t pids[2] = {};
    {
        process_handle kept = spawn(options);
        process_handle let_go = spawn(options);
        pids[0] = kept.pid();
        pids[1] = let_go.pid();
        let_go.close();
        loop().stop();
        loop().run(run_mode::drained);
        EXPECT_EQ(in_child([&] {
                      kept.close();
                      end_loop();
                      return 0;
                  }),
                  0);
        writer.reset();
    }
    end_loop();
    for (const pid_t pid : pids) {
        siginfo_t info{};
        EXPECT_TRUE(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) == 0 ||
                    errno == ECHILD);
    }
    EXPECT_TRUE(run({.program = "true"}).success());
    EXPECT_FALSE(has_children());
}

TEST_P(ExitTest, ASignalAfterTheEndReachesNobody) {
    process_handle process = spawn({.program = "true"});
    end_of(process);
    EXPECT_EQ(process.send_signal(SIGKILL), std::errc::no_such_process);
    EXPECT_EQ(process_handle().send_signal(SIGKILL), std::errc::bad_file_descriptor);
}

TEST_P(ExitTest, WhatOthersHaveReapedKeepsItsStatus) {
    process_handle process = spawn(shell("exit 9"));
    ASSERT_EQ(::waitpid(process.pid(), nullptr, 0), process.pid());
    const exit_status status = end_of(process);
    EXPECT_EQ(status.code, 9);
    EXPECT_FALSE(status.has_usage);
}

TEST_P(ExitTest, WhatOthersHaveReapedIsAnErrorWhereTheKernelKeepsNothing) {
    process_handle process = spawn(shell("exit 9"));
    ASSERT_EQ(::waitpid(process.pid(), nullptr, 0), process.pid());
    kernel::fail(kernel::call::pidfd_info, ENOTTY, 0, 1000);
    exit_recorder wait(process);
    ASSERT_TRUE(until([&] { return wait.ended(); }));
    EXPECT_EQ(wait.error(), std::errc::no_child_process);
}

TEST_P(ExitTest, StoppingAndContinuingIsNoEnd) {
    process_handle process = spawn(sleeper());
    exit_recorder wait(process);
    EXPECT_FALSE(process.send_signal(SIGSTOP));
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(process.pid()), &info, WSTOPPED), 0);
    EXPECT_EQ(info.si_code, CLD_STOPPED);
    EXPECT_FALSE(process.send_signal(SIGCONT));
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(process.pid()), &info, WCONTINUED), 0);
    settle();
    EXPECT_FALSE(wait.ended());
    process.send_signal(SIGKILL);
    EXPECT_EQ(end_of(process).signal, SIGKILL);
}

TEST_P(ExitTest, AForkedChildMayEndTheLoopOfAProcessInTheBackground) {
    auto [reader, writer] = make_pipe();
    process_options options{.program = "cat"};
    options.in = stdio::given(reader.get());
    spawn(options).close();
    EXPECT_EQ(in_child([&] {
                  end_loop();
                  return 0;
              }),
              0);
    writer.reset();
    EXPECT_TRUE(all_reaped());
}

TEST_P(ExitTest, AForkedChildLeavesTheProcessAlone) {
    process_handle process = spawn(sleeper());
    exit_recorder wait(process);
    settle();
    EXPECT_EQ(in_child([&] {
                  process.close();  // it is to be killed then, but not by this one
                  end_loop();
                  return 0;
              }),
              0);
    EXPECT_EQ(in_child([&] {
                  loop().after_fork_in_child();
                  EXPECT_TRUE(until([&] { return wait.ended(); }));
                  EXPECT_EQ(wait.error(), canceled);
                  process.close();
                  process_handle own = spawn(shell("exit 3"));
                  EXPECT_EQ(end_of(own).code, 3);
                  own.close();
                  end_loop();
                  return 0;
              }),
              0);
    loop().run_for(5ms);
    EXPECT_FALSE(wait.ended());
    process.send_signal(SIGTERM);
    EXPECT_EQ(end_of(process).signal, SIGTERM);
}

}  // namespace
}  // namespace eddy::test::exit_test
