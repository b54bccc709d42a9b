// SPDX-License-Identifier: Apache-2.0
#include "os/process_fixture.hpp"
#include "support/signals.hpp"

#include <eddy/os/process_reservation.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace eddy::test::spawn_test {
namespace {

class SpawnTest : public ProcessTest {
protected:
    static constexpr auto invalid = std::errc::invalid_argument;
};
EDDY_ON_EVERY_ENGINE(SpawnTest);

TEST_P(SpawnTest, GivesArgumentsAsTheyAre) {
    EXPECT_EQ(output_of({.program = "printf", .arguments = {"%s|", "a b", "", "$x*"}}),
              "a b||$x*|");
}

TEST_P(SpawnTest, TheNameIsTheProgramUnlessItIsGiven) {
    process_options options = shell("echo $0");
    EXPECT_EQ(output_of(options), "/bin/sh\n");
    options.name = "another";
    EXPECT_EQ(output_of(options), "another\n");
}

TEST_P(SpawnTest, AProgramThatDoesNotExistIsAnErrorAndNotAnExitCode) {
    const auto expected =
        std::pair(std::error_code(ENOENT, std::system_category()), spawn_step::execute);
    EXPECT_EQ(failure_of({.program = "/no/such/program"}), expected);
    EXPECT_EQ(failure_of({.program = "no-such-program-anywhere"}), expected);
    EXPECT_FALSE(has_children());
}

TEST_P(SpawnTest, WhatMayNotBeExecutedOrIsNoProgramSaysSo) {
    const scratch_directory directory;
    directory.file("text", "no program");
    EXPECT_EQ(failure_of({.program = directory.path("text")}).first, std::errc::permission_denied);
    ASSERT_EQ(::chmod(directory.path("text").c_str(), 0700), 0);
    EXPECT_EQ(failure_of({.program = directory.path("text")}).first,
              std::errc::executable_format_error);
    EXPECT_EQ(failure_of({.program = directory.path()}).first, std::errc::permission_denied);
}

TEST_P(SpawnTest, ThrowsWithTheProgramAndTheStep) {
    try {
        spawn({.program = "/no/such/program"});
        ADD_FAILURE() << "nothing was thrown";
    } catch (const std::system_error& e) {
        EXPECT_EQ(e.code(), std::errc::no_such_file_or_directory);
        EXPECT_NE(std::string(e.what()).find("'/no/such/program' (executing the program)"),
                  std::string::npos)
            << e.what();
    }
}

TEST_P(SpawnTest, OptionsThatMakeNoSenseAreRefused) {
    const std::string nul("a\0b", 3);
    const std::vector<process_options> bad = {
        {.program = ""},
        {.program = nul},
        {.program = "true", .arguments = {nul}},
        {.program = "true", .name = nul},
        {.program = "true", .environment = {{"NO_VALUE"}}},
        {.program = "true", .environment = {{"=value"}}},
        {.program = "true", .environment = {{nul + "="}}},
        {.program = "true", .directory = nul},
        {.program = "true", .in = stdio::like_output()},
        {.program = "true", .out = stdio::like_output()},
        {.program = "true", .err = stdio::given(-1)},
        {.program = "true", .fds = {{0, 2}}},
        {.program = "true", .fds = {{-1, 5}}},
        {.program = "true", .fds = {{0, 5}, {1, 5}}},
        {.program = "true", .new_session = true, .process_group = 0},
        {.program = "true", .process_group = -5},
    };
    for (const process_options& options : bad) {
        const auto [error, step] = failure_of(options);
        EXPECT_EQ(error, invalid) << &options - bad.data();
        EXPECT_EQ(step, spawn_step::options);
    }
}

TEST_P(SpawnTest, TooMuchIsAnErrorOfItsOwn) {
    EXPECT_EQ(failure_of({.program = std::string(100'000, 'a')}).first,
              std::errc::filename_too_long);
    EXPECT_EQ(failure_of({.program = "true", .arguments = {std::string(1'000'000, 'a')}}).first,
              std::errc::argument_list_too_long);
}

TEST_P(SpawnTest, LooksInThePathOnlyForANameWithoutASlash) {
    EXPECT_TRUE(run({.program = "true"}).success());
    EXPECT_EQ(failure_of({.program = "./true"}).first, std::errc::no_such_file_or_directory);
    EXPECT_EQ(failure_of({.program = "true", .search_path = false}).first,
              std::errc::no_such_file_or_directory);
}

TEST_P(SpawnTest, AnEntryOfThePathThatMayNotBeExecutedIsPassedOver) {
    const scratch_directory directory;
    directory.file("true", "not to be executed");
    const std::string before = ::getenv("PATH");
    ::setenv("PATH", (directory.path() + ":" + before).c_str(), 1);
    const bool found = run({.program = "true"}).success();
    ::setenv("PATH", directory.path().c_str(), 1);
    const auto error = failure_of({.program = "true"}).first;
    ::setenv("PATH", before.c_str(), 1);
    EXPECT_TRUE(found);
    EXPECT_EQ(error, std::errc::permission_denied);
}

TEST_P(SpawnTest, TheEnvironmentIsInheritedOrGiven) {
    ::setenv("EDDY_TEST_VARIABLE", "inherited", 1);
    EXPECT_EQ(output_of("echo $EDDY_TEST_VARIABLE"), "inherited\n");
    process_options options{.program = "env"};
    options.environment = {{"A=1", "B=x=y"}};
    EXPECT_EQ(output_of(options), "A=1\nB=x=y\n");
    options.environment.emplace();
    EXPECT_EQ(output_of(options), "");
    ::unsetenv("EDDY_TEST_VARIABLE");
}

TEST_P(SpawnTest, TheDirectoryIsThatOfTheProgramOnly) {
    process_options options{.program = "pwd", .directory = "/"};
    EXPECT_EQ(output_of(options), "/\n");
    options.directory = "/no/such/directory";
    EXPECT_EQ(failure_of(options),
              std::pair(std::error_code(ENOENT, std::system_category()), spawn_step::directory));
    options.directory.clear();
    char here[4096];
    EXPECT_EQ(output_of(options), std::string(::getcwd(here, sizeof here)) + "\n");
}

TEST_P(SpawnTest, ANewSessionAndANewGroupHaveTheProcessAsTheirLeader) {
    // pid, parent, group, session
    const std::string script = "cut -d' ' -f5,6 /proc/$$/stat; echo $$";
    process_options options = shell(script);
    options.new_session = true;
    std::istringstream session(output_of(options));
    int group_id = 0, session_id = 0, pid = 0;
    session >> group_id >> session_id >> pid;
    EXPECT_EQ(group_id, pid);
    EXPECT_EQ(session_id, pid);

    options = shell(script);
    options.process_group = 0;
    std::istringstream group(output_of(options));
    group >> group_id >> session_id >> pid;
    EXPECT_EQ(group_id, pid);
    EXPECT_EQ(session_id, ::getsid(0));

    std::istringstream neither(output_of(script));
    neither >> group_id >> session_id >> pid;
    EXPECT_EQ(group_id, ::getpgrp());

    process_handle leader = spawn([] {
        auto one = sleeper();
        one.process_group = 0;
        return one;
    }());
    options.process_group = leader.pid();
    std::istringstream joined(output_of(options));
    joined >> group_id;
    EXPECT_EQ(group_id, leader.pid());
}

TEST_P(SpawnTest, ResourceLimitsAreThoseOfTheProcess) {
    process_options options = shell("ulimit -n; ulimit -t");
    options.limits = {{RLIMIT_NOFILE, 50, 60}, {RLIMIT_CPU, 7, 7}};
    EXPECT_EQ(output_of(options), "50\n7\n");
    options.limits = {{RLIMIT_NOFILE, 60, 50}};
    EXPECT_EQ(failure_of(options).second, spawn_step::limits);
    options.limits = {{1000, 1, 1}};
    EXPECT_EQ(failure_of(options),
              std::pair(std::error_code(EINVAL, std::system_category()), spawn_step::limits));
}

TEST_P(SpawnTest, UserAndGroupsChangeOrAreRefused) {
    process_options options = shell("id -u; id -g; id -G");
    options.user = 12345;
    options.group = 23456;
    options.groups = {34567, 45678};
    if (::geteuid() == 0) {
        EXPECT_EQ(output_of(options), "12345\n23456\n23456 34567 45678\n");
    } else {
        EXPECT_EQ(failure_of(options).second, spawn_step::groups);
        options.groups.reset();
        EXPECT_EQ(failure_of(options).second, spawn_step::group);
        options.group.reset();
        EXPECT_EQ(failure_of(options),
                  std::pair(std::error_code(EPERM, std::system_category()), spawn_step::user));
    }
}

TEST_P(SpawnTest, AnotherUserInTheChildLeavesTheParentItsCoreFiles) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root may change the user";
    }
    ASSERT_EQ(::prctl(PR_GET_DUMPABLE), 1);
    process_options options = shell("exit 0");
    options.user = 12345;
    run(options);
    EXPECT_EQ(::prctl(PR_GET_DUMPABLE), 1);
    options.program = "/does/not/exist";
    EXPECT_EQ(failure_of(options).second, spawn_step::execute);
    EXPECT_EQ(::prctl(PR_GET_DUMPABLE), 1);
}

TEST_P(SpawnTest, AReservedOneHasTheEnvironmentOfWhenItStarts) {
    process_reservation reserved(loop(), shell("exit $EDDY_TEST_0"));
    // So many that the array of them moves.
    const auto name = [](int i) { return "EDDY_TEST_" + std::to_string(i); };
    for (int i = 0; i != 100; ++i) {
        ::setenv(name(i).c_str(), "23", 1);
    }
    process_handle process;
    const std::error_code error = reserved.spawn(process);
    for (int i = 0; i != 100; ++i) {
        ::unsetenv(name(i).c_str());
    }
    ASSERT_FALSE(error) << error.message();
    EXPECT_EQ(end_of(process).code, 23);
}

TEST_P(SpawnTest, ThereIsNoProcessWhereThereIsNoRoomForItsDescriptors) {
    // UBSan looks at the first object of a type through a pipe, and later there is no fd left for
    // one: show it what a spawn uses, whether it fails or not.
    EXPECT_NE(failure_of({.program = "/does/not/exist"}).first, std::errc::too_many_files_open);
    {
        process_handle shown;
        process_options options{.program = "true"};
        options.in = options.out = options.err = stdio::pipe();
        ASSERT_FALSE(process_handle::spawn(loop(), options, shown));
        end_of(shown);
    }
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const auto fds = static_cast<rlim_t>(open_fds());
    bool spawned = false;
    for (rlim_t room = 0; room != 16 && !spawned; ++room) {
        const rlimit few{fds + room, before.rlim_max};
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
        process_handle process;
        process_options options{.program = "true"};
        options.in = options.out = options.err = stdio::pipe();
        const auto error = process_handle::spawn(loop(), options, process);
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
        spawned = !error;
        if (error) {
            EXPECT_EQ(error, std::errc::too_many_files_open);
            EXPECT_FALSE(has_children());
            EXPECT_EQ(open_fds(), fds);
        } else {
            end_of(process);
        }
    }
    EXPECT_TRUE(spawned);
}

TEST_P(SpawnTest, ACloneThatFailsLeavesNothing) {
    kernel::fail(kernel::call::clone, EAGAIN);
    EXPECT_EQ(failure_of({.program = "true"}),
              std::pair(std::error_code(EAGAIN, std::system_category()), spawn_step::clone));
}

/// Threads after fork() are beyond TSan, and ASan's allocator does not care for fork() either.
class SpawnAfterForkNoTsan : public SpawnTest {};
EDDY_ON_EVERY_ENGINE(SpawnAfterForkNoTsan);

TEST_P(SpawnAfterForkNoTsan, AsAnotherUserDoesNotWaitForAThreadThatIsNotThereNoAsan) {
    process_options options{.program = "true"};
    options.user = ::getuid();
    static_cast<void>(loop());
    std::atomic<bool> done = false;
    std::thread spawns([&] {
        eddy::loop own({.engine = GetParam()});
        while (!done) {
            process_handle(own, options).close();
            own.run_for(1ms);
        }
    });
    for (int i = 0; i != 20 && !HasFailure(); ++i) {
        EXPECT_EQ(in_child([&] {
                      eddy::loop own({.engine = GetParam()});
                      const process_handle process(own, options);
                      return 0;
                  }),
                  0);
    }
    done = true;
    spawns.join();
    for (int i = 0; i != 1000 && has_children(); ++i) {
        EXPECT_TRUE(run(options).success());
    }
}

/// One that the loop has no room for; other engines than epoll have.
class NoRoomTest : public SpawnTest {
protected:
    void SetUp() override {
        SpawnTest::SetUp();
        if (IsSkipped()) {
            return;
        }
        process_reservation reserved;
        const process_options options = sleeper();
        ASSERT_FALSE(process_reservation::make(loop(), options, reserved));
        kernel::fail(kernel::call::epoll_ctl, ENOSPC);
        ASSERT_FALSE(reserved.spawn(process));
        kernel::fail_nothing();
    }
    void TearDown() override {
        process.close();
        SpawnTest::TearDown();
    }

    process_handle process;
};
EDDY_ON_EVERY_ENGINE(NoRoomTest);

TEST_P(NoRoomTest, IsWaitedForInAForkedChildAlsoAfterADrain) {
    const int ended = in_child([&] {
        loop().after_fork_in_child();
        loop().stop();
        loop().run(run_mode::drained);
        exit_recorder wait(process);
        loop().poll();
        EXPECT_FALSE(wait.ended());
        EXPECT_FALSE(process.send_signal(SIGKILL));
        EXPECT_TRUE(until([&] { return wait.ended(); }));
        return 0;
    });
    EXPECT_EQ(ended, 0);
    EXPECT_EQ(end_of(process).signal, SIGKILL);
}

TEST_P(NoRoomTest, IsLetGoOfInAForkedChildBeforeTheLoop) {
    EXPECT_EQ(in_child([&] {
                  process.close();
                  end_loop();
                  return 0;
              }),
              0);
    EXPECT_EQ(in_child([&] {
                  loop().after_fork_in_child();
                  process.close();
                  loop().run_for(50ms);  // longer than a tick
                  return 0;
              }),
              0);
    EXPECT_FALSE(process.send_signal(SIGKILL));
    EXPECT_EQ(end_of(process).signal, SIGKILL);
}

TEST_P(NoRoomTest, IsReapedAfterADrain) {
    loop().stop();
    loop().run(run_mode::drained);
    EXPECT_FALSE(process.send_signal(SIGKILL));
    EXPECT_TRUE(all_reaped());
    EXPECT_EQ(end_of(process).signal, SIGKILL);
}

TEST_P(SpawnTest, AProcessThatTheLoopHasNoRoomForIsWatchedAllTheSame) {
    static_cast<void>(loop());
    // The first is the reservation, before there is a process: that one may fail.
    kernel::fail(kernel::call::epoll_ctl, ENOSPC, 0, 1);
    if (on(engine_kind::epoll)) {
        EXPECT_EQ(failure_of({.program = "true"}),
                  std::pair(std::error_code(ENOSPC, std::system_category()), spawn_step::prepare));
        kernel::fail(kernel::call::epoll_ctl, ENOSPC, 1, 1);
    }
    process_handle process = spawn(shell("exit 7"));
    kernel::fail_nothing();
    EXPECT_EQ(end_of(process).code, 7);
    EXPECT_EQ(end_of(process).code, 7);
    EXPECT_EQ(process.send_signal(SIGTERM), std::errc::no_such_process);
}

/// After a fork() the kernel would have to copy each page that is written.
TEST_P(SpawnTest, NoPageOfTheParentIsCopied) {
    constexpr std::size_t pages = 4096;
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* const mapped =
        ::mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    ::madvise(mapped, pages * page, MADV_NOHUGEPAGE);
    const auto write_each = [&] {
        rusage before{};
        rusage after{};
        ::getrusage(RUSAGE_THREAD, &before);
        for (std::size_t i = 0; i != pages; ++i) {
            *(static_cast<volatile char*>(mapped) + i * page) = 1;
        }
        ::getrusage(RUSAGE_THREAD, &after);
        return after.ru_minflt - before.ru_minflt;
    };
    EXPECT_GE(write_each(), static_cast<long>(pages));
    EXPECT_TRUE(run({.program = "/bin/true"}).success());
    EXPECT_LT(write_each(), static_cast<long>(pages / 4));
    ::munmap(mapped, pages * page);
}

/// What waits for this process is not the child's.
TEST_P(SpawnTest, ASignalThatIsPendingHereIsNotPendingThere) {
    const blocked_signals blocked{{SIGTERM}};
    send_signal(SIGTERM);
    ASSERT_TRUE(is_pending(SIGTERM));
    process_options options = sleeper();
    options.blocked_signals = signal_set{};
    process_handle child = spawn(options);
    std::ifstream status("/proc/" + std::to_string(child.pid()) + "/status");
    int seen = 0;
    for (std::string field, value; status >> field; status.ignore(4096, '\n')) {
        if (field == "SigPnd:" || field == "ShdPnd:") {
            status >> value;
            EXPECT_EQ(value, "0000000000000000") << field;
            ++seen;
        }
    }
    EXPECT_EQ(seen, 2);
    EXPECT_FALSE(child.send_signal(SIGTERM));
    EXPECT_EQ(end_of(child).signal, SIGTERM);
    EXPECT_TRUE(is_pending(SIGTERM));
}

}  // namespace
}  // namespace eddy::test::spawn_test
