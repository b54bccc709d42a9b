// SPDX-License-Identifier: Apache-2.0
#include "os/process_fixture.hpp"

#include <fstream>
#include <optional>

namespace eddy::test::adopt_test {
namespace {

/// Processes that others have made.
class AdoptTest : public ProcessTest {
protected:
    /// A child that eddy knows nothing of; it lives until it is killed.
    static pid_t fork_child() {
        const pid_t child = ::fork();
        if (child == 0) {
            for (;;) {
                ::pause();
            }
        }
        return child;
    }
    process_handle adopt(pid_t pid) {
        process_handle process;
        EXPECT_FALSE(process_handle::adopt(loop(), pid, process));
        return process;
    }
    static std::error_code refusal_of(eddy::loop& home, pid_t pid) {
        process_handle process;
        const auto error = process_handle::adopt(home, pid, process);
        EXPECT_FALSE(process);
        return error;
    }
};
EDDY_ON_EVERY_ENGINE(AdoptTest);

TEST_P(AdoptTest, AChildIsReapedWithItsStatus) {
    process_handle process = adopt(fork_child());
    EXPECT_TRUE(process.is_child());
    EXPECT_FALSE(process.send_signal(SIGKILL));
    const exit_status status = end_of(process);
    EXPECT_EQ(status.signal, SIGKILL);
    EXPECT_TRUE(status.has_usage);
    EXPECT_FALSE(has_children());
}

TEST_P(AdoptTest, AChildThatHasEndedAlreadyIsAdoptedToo) {
    const pid_t pid = fork_child();
    ::kill(pid, SIGKILL);
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
    process_handle process = adopt(pid);
    EXPECT_EQ(end_of(process).signal, SIGKILL);
}

TEST_P(AdoptTest, AChildThatIsLetGoLivesOnAndIsReaped) {
    const pid_t pid = fork_child();
    adopt(pid).close();
    loop().run_for(5ms);
    EXPECT_EQ(::kill(pid, SIGKILL), 0);
    EXPECT_TRUE(all_reaped());
}

TEST_P(AdoptTest, OfAStrangerTheEndIsToldAndItsParentReapsIt) {
    process_options options = shell("sleep 1000 & echo $!; wait $! 2>/dev/null; echo $?");
    options.out = stdio::pipe();
    process_handle parent = spawn(options);
    std::string line(64, '\0');
    recorder reading;
    start(reading, read(parent.stdio_pipe(1), bytes(line)));
    ASSERT_TRUE(ends(reading));
    process_handle stranger = adopt(std::stoi(line));
    EXPECT_FALSE(stranger.is_child());
    exit_recorder wait(stranger);
    settle();
    EXPECT_FALSE(wait.ended());
    EXPECT_FALSE(stranger.send_signal(SIGKILL));
    ASSERT_TRUE(until([&] { return wait.ended(); }));
    EXPECT_FALSE(wait.error());
    EXPECT_FALSE(wait.status().has_usage);
    if (wait.status().known) {  // if its parent was quicker
        EXPECT_EQ(wait.status().signal, SIGKILL);
    }
    EXPECT_NE(read_to_end(parent.stdio_pipe(1)).find("137\n"), std::string::npos);
    EXPECT_TRUE(end_of(parent).success());
}

TEST_P(AdoptTest, AStrangerThatIsLetGoIsLeftAlone) {
    process_options options = shell("sleep 1000 & echo $!; wait $! 2>/dev/null; echo $?");
    options.out = stdio::pipe();
    process_handle parent = spawn(options);
    std::string line(64, '\0');
    recorder reading;
    start(reading, read(parent.stdio_pipe(1), bytes(line)));
    ASSERT_TRUE(ends(reading));
    const pid_t pid = std::stoi(line);
    adopt(pid).close();
    EXPECT_EQ(::kill(pid, SIGTERM), 0);
    EXPECT_EQ(read_to_end(parent.stdio_pipe(1)), "143\n");
    end_of(parent);
}

TEST_P(AdoptTest, WhatDoesNotExistIsAnError) {
    const pid_t pid = fork_child();
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    EXPECT_EQ(refusal_of(loop(), pid), std::errc::no_such_process);
    EXPECT_EQ(refusal_of(loop(), -1), std::errc::invalid_argument);
    EXPECT_EQ(refusal_of(loop(), 0), std::errc::invalid_argument);
}

TEST_P(AdoptTest, ASecondHandleOnTheSameLoopIsAsGoodAsTheFirst) {
    process_handle first = spawn(sleeper());
    process_handle second = adopt(first.pid());
    first.close();
    EXPECT_FALSE(second.send_signal(SIGKILL));
    process_handle third = adopt(second.pid());
    exit_recorder one(second);
    EXPECT_EQ(end_of(third).signal, SIGKILL);
    ASSERT_TRUE(until([&] { return one.ended(); }));
    EXPECT_EQ(one.status().signal, SIGKILL);
}

TEST_P(AdoptTest, AnotherLoopIsRefused) {
    process_handle process = spawn(sleeper());
    eddy::loop other({.engine = GetParam()});
    EXPECT_EQ(refusal_of(other, process.pid()), errc::process_has_owner);
    EXPECT_EQ(refusal_of(other, process.pid()), std::errc::device_or_resource_busy);
    const pid_t pid = fork_child();
    process_handle adopted = adopt(pid);
    EXPECT_EQ(refusal_of(other, pid), errc::process_has_owner);
    ::kill(pid, SIGKILL);
    end_of(adopted);
}

TEST_P(AdoptTest, AnotherLoopMayHaveWhatTheFirstHasLetGoWithItsEnd) {
    auto [reader, writer] = make_pipe();
    process_options options = shell("read x; exit 6");
    options.in = stdio::given(reader.get());
    process_handle process = spawn(options);
    const pid_t pid = process.pid();
    process.close();
    end_loop();
    process = adopt(pid);
    EXPECT_TRUE(process.is_child());
    writer.reset();
    EXPECT_EQ(end_of(process).code, 6);
}

TEST_P(AdoptTest, TwoLoopsDoNotTakeEachOthersChildren) {
    eddy::loop other({.engine = GetParam()});
    process_handle mine = spawn(shell("exit 1"));
    process_handle theirs(other, shell("exit 2"));
    EXPECT_EQ(end_of(mine).code, 1);
    exit_recorder wait(theirs);
    other.run(run_mode::empty, {.until = clock::now() + patience});
    EXPECT_EQ(wait.status().code, 2);
    EXPECT_TRUE(wait.status().has_usage);
}

/// A child with that very pid, which must be free; none, if the kernel does not let us choose. Only
/// in a pid namespace of one's own: the numbers of others would come again, too.
std::optional<pid_t> fork_with_pid(pid_t wanted) {
    for (int attempt = 0; attempt != 20; ++attempt) {
        std::ofstream("/proc/sys/kernel/ns_last_pid") << wanted - 1 << std::flush;
        const pid_t child = ::fork();
        if (child == 0) {
            for (;;) {
                ::pause();
            }
        }
        if (child == wanted) {
            return child;
        }
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
    }
    return std::nullopt;
}

TEST_P(AdoptTest, APidThatIsUsedAgainIsAnotherProcess) {
    const int result = in_pid_namespace([&] {
        loop().after_fork_in_child();
        process_handle old = spawn(shell("exit 4"));
        const pid_t pid = old.pid();
        EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);  // the loop has not noticed
        const auto again = fork_with_pid(pid);
        if (!again) {
            return not_permitted;
        }
        EXPECT_EQ(old.send_signal(SIGKILL), std::errc::no_such_process);
        eddy::loop other({.engine = GetParam()});
        process_handle fresh;
        EXPECT_FALSE(process_handle::adopt(other, pid, fresh));
        EXPECT_EQ(end_of(old).code, 4);
        exit_recorder wait(fresh);
        EXPECT_FALSE(fresh.send_signal(SIGTERM));
        other.run(run_mode::empty, {.until = clock::now() + patience});
        EXPECT_EQ(wait.status().signal, SIGTERM);
        return 0;
    });
    if (result == not_permitted) {
        GTEST_SKIP() << "this user may not make pid namespaces, or not choose a pid";
    }
    EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace eddy::test::adopt_test
