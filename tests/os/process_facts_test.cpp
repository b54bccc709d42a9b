// SPDX-License-Identifier: Apache-2.0
#include "kernel/process.hpp"
#include "support/fds.hpp"

#include <csignal>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace eddy::test::process_facts_test {
namespace {

/// What the kernel does, on which processes are built.
class ProcessFacts : public ::testing::Test {
protected:
    static kernel::spawned spawn(const char* script) {
        const char* const paths[] = {"/bin/sh", nullptr};
        std::string words[] = {"sh", "-c", script};
        char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
        char* const environment[] = {nullptr};
        std::vector<std::byte> stack(kernel::child_stack_size);
        kernel::spawn_plan plan;
        plan.paths = paths;
        plan.arguments = arguments;
        plan.environment = environment;
        plan.stack = stack;
        kernel::spawned out;
        spawn_step failed = spawn_step::none;
        EXPECT_FALSE(kernel::spawn(plan, out, failed));
        return out;
    }
    static short ready(int fd, int limit_ms) {
        pollfd one{fd, POLLIN, 0};
        EXPECT_GE(::poll(&one, 1, limit_ms), 0);
        return one.revents;
    }
};

TEST_F(ProcessFacts, APidfdIsCloexecAndReadableFromTheEndOnAndHangsUpWhenReaped) {
    const kernel::spawned child = spawn("exit 3");
    EXPECT_TRUE(is_cloexec(child.pidfd.get()));
    EXPECT_EQ(ready(child.pidfd.get(), 5000), POLLIN);
    kernel::process_end end;
    EXPECT_FALSE(kernel::reap(child.pidfd.get(), end));
    EXPECT_EQ(WEXITSTATUS(end.wait_status), 3);
    EXPECT_TRUE(ready(child.pidfd.get(), 0) & POLLIN);
    EXPECT_TRUE(ready(child.pidfd.get(), 0) & POLLHUP);
    EXPECT_EQ(kernel::reap(child.pidfd.get(), end), std::errc::no_child_process);
}

TEST_F(ProcessFacts, StoppingDoesNotMakeItReadableAndIsReportedOnlyWhenAskedFor) {
    const kernel::spawned child = spawn("exec /bin/sleep 1000");
    EXPECT_FALSE(kernel::signal_pidfd(child.pidfd.get(), SIGSTOP));
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid), &info, WSTOPPED), 0);
    EXPECT_EQ(ready(child.pidfd.get(), 0), 0);
    kernel::process_end end;
    EXPECT_EQ(kernel::reap(child.pidfd.get(), end), std::errc::operation_would_block);
    EXPECT_FALSE(kernel::signal_pidfd(child.pidfd.get(), SIGKILL));
    EXPECT_TRUE(ready(child.pidfd.get(), 5000) & POLLIN);
    EXPECT_FALSE(kernel::reap(child.pidfd.get(), end));
    EXPECT_EQ(WTERMSIG(end.wait_status), SIGKILL);
}

TEST_F(ProcessFacts, AStopAndAContinuationAreEachToldOnceToWhoAsksByPidfd) {
    const kernel::spawned child = spawn("exec /bin/sleep 1000");
    int stopped_by = -1;
    EXPECT_EQ(kernel::take_change(child.pidfd.get(), stopped_by), std::errc::operation_would_block);
    siginfo_t info{};
    EXPECT_FALSE(
        kernel::signal_pidfd(child.pidfd.get(), SIGSTOP));  // the only one that always stops
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid), &info, WSTOPPED | WNOWAIT), 0);
    EXPECT_FALSE(kernel::take_change(child.pidfd.get(), stopped_by));
    EXPECT_EQ(stopped_by, SIGSTOP);
    EXPECT_EQ(kernel::take_change(child.pidfd.get(), stopped_by), std::errc::operation_would_block);
    EXPECT_FALSE(kernel::signal_pidfd(child.pidfd.get(), SIGCONT));
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid), &info, WCONTINUED | WNOWAIT), 0);
    EXPECT_FALSE(kernel::take_change(child.pidfd.get(), stopped_by));
    EXPECT_EQ(stopped_by, 0);
    EXPECT_FALSE(kernel::signal_pidfd(child.pidfd.get(), SIGKILL));
    EXPECT_TRUE(ready(child.pidfd.get(), 5000) & POLLIN);
    kernel::process_end end;
    EXPECT_FALSE(kernel::reap(child.pidfd.get(), end));
    EXPECT_EQ(kernel::take_change(child.pidfd.get(), stopped_by), std::errc::no_child_process);
}

TEST_F(ProcessFacts, AnyThreadMayReapAndOfTwoOnlyOneGetsIt) {
    const kernel::spawned child = spawn("exit 2");
    EXPECT_EQ(ready(child.pidfd.get(), 5000), POLLIN);
    kernel::process_end there;
    std::error_code there_error;
    std::thread([&] { there_error = kernel::reap(child.pidfd.get(), there); }).join();
    EXPECT_FALSE(there_error);
    EXPECT_EQ(WEXITSTATUS(there.wait_status), 2);
    kernel::process_end here;
    EXPECT_EQ(kernel::reap(child.pidfd.get(), here), std::errc::no_child_process);
}

TEST_F(ProcessFacts, WhoeverHasEndedIsFoundAndLeftThereUntilItIsReaped) {
    pid_t found = -1;
    EXPECT_EQ(kernel::find_ended(found), std::errc::operation_would_block) << "no children";
    const kernel::spawned child = spawn("exit 1");
    EXPECT_EQ(ready(child.pidfd.get(), 5000), POLLIN);
    for (int i = 0; i != 2; ++i) {
        EXPECT_FALSE(kernel::find_ended(found));
        EXPECT_EQ(found, child.pid);
    }
    kernel::process_end end;
    EXPECT_FALSE(kernel::reap_pid(found, end));
    EXPECT_TRUE(end.has_usage);
    EXPECT_EQ(kernel::reap_pid(found, end), std::errc::no_child_process);
}

/// TSan does not like threads in a forked child.
class ProcessFactsNoTsan : public ProcessFacts {};

TEST_F(ProcessFactsNoTsan, APidfdIsReadableOnlyWhenAllThreadsHaveEnded) {
    auto [reader, writer] = make_pipe();
    const pid_t pid = ::fork();
    if (pid == 0) {
        writer.reset();
        std::thread([fd = reader.get()] {
            char byte = 0;
            ::_exit(::read(fd, &byte, 1) == 0 ? 5 : 6);
        }).detach();
        ::syscall(SYS_exit, 0);  // the main thread alone
    }
    unique_fd pidfd;
    ASSERT_FALSE(kernel::open_pidfd(pid, pidfd));
    // The main thread has ended when the process is a zombie with a thread left.
    const std::string status = "/proc/" + std::to_string(pid) + "/stat";
    char state = '?';
    for (int i = 0; i != 100'000 && state != 'Z'; ++i) {
        std::FILE* const file = std::fopen(status.c_str(), "re");
        ASSERT_NE(file, nullptr);
        EXPECT_EQ(std::fscanf(file, "%*d %*s %c", &state), 1);
        std::fclose(file);
        std::this_thread::yield();
    }
    EXPECT_EQ(state, 'Z');
    EXPECT_EQ(ready(pidfd.get(), 0), 0);
    writer.reset();
    EXPECT_TRUE(ready(pidfd.get(), 5000) & POLLIN);
    kernel::process_end end;
    EXPECT_FALSE(kernel::reap(pidfd.get(), end));
    EXPECT_EQ(WEXITSTATUS(end.wait_status), 5);
}

TEST_F(ProcessFacts, TheStatusIsRememberedAfterTheReapingAndNotBefore) {
    const kernel::spawned child = spawn("exit 7");
    EXPECT_EQ(ready(child.pidfd.get(), 5000), POLLIN);
    kernel::process_end end;
    EXPECT_EQ(kernel::recall_end(child.pidfd.get(), end), std::errc::no_child_process);
    ASSERT_EQ(::waitpid(child.pid, nullptr, 0), child.pid);
    if (kernel::recall_end(child.pidfd.get(), end)) {
        GTEST_SKIP() << "a kernel before 6.15";
    }
    EXPECT_EQ(WEXITSTATUS(end.wait_status), 7);
    EXPECT_FALSE(end.has_usage);
}

TEST_F(ProcessFacts, WhoIsNoChildCanBeWatchedAndNotReaped) {
    unique_fd parent;
    ASSERT_FALSE(kernel::open_pidfd(::getppid(), parent));
    kernel::process_end end;
    EXPECT_FALSE(kernel::is_child(parent.get()));
    EXPECT_EQ(kernel::reap(parent.get(), end), std::errc::no_child_process);
    EXPECT_EQ(ready(parent.get(), 0), 0);
}

}  // namespace
}  // namespace eddy::test::process_facts_test
