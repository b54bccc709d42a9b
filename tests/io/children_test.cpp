// SPDX-License-Identifier: Apache-2.0
#include "io/io_fixture.hpp"
#include "support/signals.hpp"

#include <eddy/io/children.hpp>

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

namespace eddy::test::children_test {
namespace {

class ChildrenSender : public IoTest {
protected:
    static pid_t fork_child(int code) {
        const pid_t pid = ::fork();
        if (pid == 0) {
            ::_exit(code);
        }
        return pid;
    }
    process sleeper() {
        process_options options{.program = "sleep", .arguments = {"1000"}};
        options.kill_on_destroy = true;
        return spawn_process(loop(), options);
    }

    blocked_signals blocked_{SIGCHLD};
};
EDDY_ON_EVERY_ENGINE(ChildrenSender);

TEST_P(ChildrenSender, SendsTheEndOfAnyChild) {
    child_source source(loop());
    started waiting(loop(), wait_any_child(source));
    settle();
    const pid_t pid = fork_child(4);
    ASSERT_TRUE(ends(waiting));
    EXPECT_EQ(waiting.value().pid, pid);
    EXPECT_EQ(waiting.value().status.code, 4);
}

TEST_P(ChildrenSender, SendsStopsAndContinuations) {
    child_source source(loop());
    process child = sleeper();
    EXPECT_FALSE(child.kill(SIGSTOP));
    EXPECT_EQ(run(wait_state_change(source, child)).what, child_change::stopped);
    EXPECT_FALSE(child.kill(SIGCONT));
    EXPECT_EQ(run(wait_state_change(source, child)).what, child_change::continued);
    EXPECT_FALSE(child.kill(SIGKILL));
    const child_event end = run(wait_state_change(source, child));
    EXPECT_EQ(end.what, child_change::ended);
    EXPECT_EQ(end.status.signal, SIGKILL);
    EXPECT_EQ(run(child.wait()).signal, SIGKILL);
}

TEST_P(ChildrenSender, OfAStrangerOrAnEmptyOneIsAnError) {
    child_source source(loop());
    process stranger = process::adopt(loop(), ::getppid());
    EXPECT_EQ(error_of(wait_state_change(source, stranger)), errc::process_not_child);
    process none;
    EXPECT_EQ(error_of(wait_state_change(source, none)), std::errc::bad_file_descriptor);
}

TEST_P(ChildrenSender, AskedToStopItReapsNobody) {
    child_source source(loop());
    started waiting(loop(), wait_any_child(source));
    settle();
    const pid_t pid = fork_child(0);
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
    waiting.stop();
    ASSERT_TRUE(ends(waiting));
    EXPECT_TRUE(waiting.stopped());
    EXPECT_EQ(run(wait_any_child(source)).pid, pid);
}

}  // namespace
}  // namespace eddy::test::children_test
