// SPDX-License-Identifier: Apache-2.0
#include "io/io_fixture.hpp"
#include "support/random.hpp"

#include <eddy/io/process.hpp>

#include <csignal>
#include <memory>
#include <string>
#include <thread>

#include <sys/wait.h>

namespace eddy::test::process_test {
namespace {

class ProcessSenderTest : public IoTest {
protected:
    void TearDown() override {
        until_driven([] { return !has_children(); });
        IoTest::TearDown();
    }
    static bool has_children() {
        siginfo_t info{};
        return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
    }
    static process_options shell(std::string script) {
        return {.program = "/bin/sh", .arguments = {"-c", std::move(script)}};
    }
    static process_options sleeper() {
        process_options options{.program = "sleep", .arguments = {"1000"}};
        options.kill_on_destroy = true;
        return options;
    }
};
EDDY_ON_EVERY_ENGINE(ProcessSenderTest);

TEST_P(ProcessSenderTest, IsWaitedForBeforeAndAfterItsEnd) {
    process child = spawn_process(loop(), shell("exit 3"));
    EXPECT_EQ(run(child.wait()).code, 3);
    EXPECT_EQ(run(child.wait()).code, 3);
    EXPECT_TRUE(run(child.wait()).has_usage);
}

TEST_P(ProcessSenderTest, ItsPipesAreStreams) {
    process_options options{.program = "sort"};
    options.in = options.out = options.err = stdio::pipe();
    process child = spawn_process(loop(), options);
    EXPECT_EQ(run(child.stdin_pipe().write(bytes("b\nc\na\n"))), 6U);
    run(child.stdin_pipe().close());
    char buffer[64];
    const std::size_t n = run(child.stdout_pipe().read(bytes(buffer)));
    EXPECT_EQ(std::string(buffer, n), "a\nb\nc\n");
    EXPECT_EQ(run(child.stderr_pipe().read_some(bytes(buffer))), 0U);
    EXPECT_TRUE(run(child.wait()).success());
}

TEST_P(ProcessSenderTest, APipeThatWasNotAskedForIsEmpty) {
    process child = spawn_process(loop(), {.program = "true"});
    EXPECT_FALSE(child.stdin_pipe());
    char buffer[4];
    EXPECT_EQ(error_of(child.stdout_pipe().read_some(bytes(buffer))), bad_fd);
    run(child.wait());
}

TEST_P(ProcessSenderTest, WhatCannotBeSpawnedThrows) {
    EXPECT_THROW(spawn_process(loop(), {.program = "/no/such/program"}), std::system_error);
}

TEST_P(ProcessSenderTest, AStoppedWaitTakesNothingAway) {
    process child = spawn_process(loop(), sleeper());
    started one(loop(), child.wait());
    started other(loop(), child.wait());
    settle();
    one.stop();
    ASSERT_TRUE(ends(one));
    EXPECT_TRUE(one.stopped());
    EXPECT_FALSE(child.kill(SIGTERM));
    ASSERT_TRUE(ends(other));
    EXPECT_EQ(other.value().signal, SIGTERM);
    EXPECT_EQ(run(child.wait()).signal, SIGTERM);
}

TEST_P(ProcessSenderTest, AWaitEndsWithItsHandle) {
    auto child = std::make_unique<process>(spawn_process(loop(), sleeper()));
    started wait(loop(), child->wait());
    settle();
    child.reset();
    ASSERT_TRUE(ends(wait));
    EXPECT_EQ(wait.error(), canceled);
}

TEST_P(ProcessSenderTest, AnEmptyOneCannotBeWaitedFor) {
    const process none;
    EXPECT_EQ(error_of(none.wait()), bad_fd);
    EXPECT_EQ(none.kill(SIGTERM), bad_fd);
}

TEST_P(ProcessSenderTest, AnAdoptedOneIsWaitedFor) {
    const pid_t pid = ::fork();
    if (pid == 0) {
        for (;;) {
            ::pause();
        }
    }
    process child = process::adopt(loop(), pid);
    EXPECT_FALSE(child.kill(SIGKILL));
    EXPECT_EQ(run(child.wait()).signal, SIGKILL);
    EXPECT_THROW(process::adopt(loop(), pid), std::system_error);
}

TEST_P(ProcessSenderTest, AStopThatComesWithTheEndIsEitherOfTheTwo) {
    random_numbers random;
    int stopped = 0;
    constexpr int rounds = 60;
    for (int round = 0; round != rounds; ++round) {
        auto [reader, writer] = make_pipe();
        process_options options{.program = "/bin/cat"};
        options.in = stdio::given(reader.get());
        process child = spawn_process(loop(), options);
        started wait(loop(), child.wait());
        settle();
        std::thread stopper([&, &its_end = writer, turns = random.below(500)] {
            its_end.reset();  // the process ends now
            for (std::uint64_t i = 0; i != turns; ++i) {
                std::this_thread::yield();
            }
            wait.stop();
        });
        EXPECT_TRUE(ends(wait));
        stopper.join();
        settle();
        EXPECT_EQ(wait.completions(), 1);
        if (wait.stopped()) {
            ++stopped;
        } else {
            EXPECT_TRUE(wait.value().success());
        }
        EXPECT_TRUE(run(child.wait()).success());
    }
    RecordProperty("stopped", stopped);
}

}  // namespace
}  // namespace eddy::test::process_test
