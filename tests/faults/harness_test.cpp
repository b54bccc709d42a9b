// SPDX-License-Identifier: Apache-2.0
// The harness notices what it is there for.
#include "faults/documented_errors.hpp"
#include "faults/with_every_fault.hpp"
#include "kernel/io.hpp"

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest-spi.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace eddy::test::harness {

namespace {

using kernel::call;

/// All that fails while `function` runs, in words.
std::string failures_when(const std::function<void()>& function) {
    ::testing::TestPartResultArray results;
    {
        const ::testing::ScopedFakeTestPartResultReporter reporter(
            ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
        function();
    }
    std::string all;
    for (int i = 0; i != results.size(); ++i) {
        all += results.GetTestPartResult(i).message();
    }
    return all;
}

std::string failures_of(const std::function<void(attempt&)>& scenario) {
    const fault_subject subject{"tried", scenario, [] { return std::uint64_t{0}; }};
    return failures_when([&] { with_every_fault(subject, 2); });
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

/// Writes a byte into a pipe and reads it back.
io_result write_and_read() {
    static const fd_pair pipe = make_pipe();
    char byte = 'x';
    const io_result written = kernel::write(pipe.second.get(), &byte, 1, -1);
    return written ? kernel::read(pipe.first.get(), &byte, 1, -1) : written;
}

/// As it should be: what has failed is told, and nothing is left in the pipe.
void tell_all(attempt& a) {
    static const fd_pair pipe = make_pipe();
    char byte = 'x';
    const io_result written = kernel::write(pipe.second.get(), &byte, 1, -1);
    a.told(written.error());
    if (!written) {
        return;
    }
    const io_result taken = kernel::read(pipe.first.get(), &byte, 1, -1);
    a.told(taken.error());
    if (!taken) {
        static_cast<void>(::read(pipe.first.get(), &byte, 1));
    }
    a.succeed(taken.ok());
}

TEST(FaultHarness, IsContentWithAScenarioThatTellsAll) { EXPECT_EQ(failures_of(tell_all), ""); }

TEST(FaultHarness, NoticesAnErrorThatIsSwallowed) {
    const auto failures = failures_of([](attempt& a) {
        static_cast<void>(write_and_read());
        a.succeed();
    });
    EXPECT_TRUE(has(failures, "it succeeds although a call has failed")) << failures;
}

/// The table says that an EIO of a read may go unseen somewhere.
TEST(FaultHarness, NoticesASwallowedErrorThatThisScenarioMustTell) {
    const auto swallow = [](attempt& a) {
        const fd_pair pipe = make_pipe();
        char byte = 'x';
        write_all(pipe.second.get(), "x");
        static_cast<void>(kernel::read(pipe.first.get(), &byte, 1, -1));
        a.succeed();
    };
    EXPECT_EQ(failures_of(swallow), "");
    const call strict[] = {call::read};
    const auto failures = failures_when([&] {
        with_every_fault({.name = "tried",
                          .scenario = swallow,
                          .settle = [] { return std::uint64_t{0}; },
                          .tells = strict},
                         2);
    });
    EXPECT_TRUE(has(failures, "read number 1 fails with EIO")) << failures;
    EXPECT_TRUE(has(failures, "it succeeds although a call has failed")) << failures;
}

TEST(FaultHarness, NoticesAnErrorThatIsMistakenForAnother) {
    const auto failures = failures_of([](attempt& a) {
        const io_result result = write_and_read();
        a.told(result ? std::error_code() : std::error_code(EXDEV, std::system_category()));
        a.succeed(result.ok());
    });
    EXPECT_TRUE(has(failures, "another error")) << failures;
}

TEST(FaultHarness, NoticesAFailureThatSaysNothing) {
    const auto failures = failures_of([](attempt& a) { a.succeed(write_and_read().ok()); });
    EXPECT_TRUE(has(failures, "neither succeeds nor says why")) << failures;
}

TEST(FaultHarness, NoticesWhatHasToBeCancelled) {
    const auto failures = failures_of([](attempt& a) {
        const io_result result = write_and_read();
        if (!result) {
            a.give_up();
        }
        a.succeed(result.ok());
    });
    EXPECT_TRUE(has(failures, "it has to be cancelled")) << failures;
}

TEST(FaultHarness, NoticesWhatDoesNotRecover) {
    bool broken = false;
    const auto failures = failures_of([&](attempt& a) {
        const io_result result = write_and_read();
        a.told(result.error());
        broken |= !result;
        a.succeed(!broken);
    });
    EXPECT_TRUE(has(failures, "it does not succeed afterwards")) << failures;
}

TEST(FaultHarness, NoticesADescriptorThatIsLost) {
    std::vector<unique_fd> lost;
    const auto failures = failures_of([&](attempt& a) {
        const io_result result = write_and_read();
        if (!result) {
            lost.emplace_back(::eventfd(0, EFD_CLOEXEC));
        }
        a.told(result.error());
        a.succeed(result.ok());
    });
    EXPECT_TRUE(has(failures, "descriptors are lost")) << failures;
}

TEST(FaultHarness, NoticesMemoryThatIsLost) {
    std::vector<std::unique_ptr<int>> lost;
    lost.reserve(10'000);
    const auto failures = failures_of([&](attempt& a) {
        const io_result result = write_and_read();
        if (!result) {
            lost.push_back(std::make_unique<int>(1));
        }
        a.told(result.error());
        a.succeed(result.ok());
    });
    EXPECT_TRUE(has(failures, "memory is lost")) << failures;
}

TEST(FaultHarness, NoticesAScenarioWithoutCalls) {
    EXPECT_TRUE(has(failures_of([](attempt& a) { a.succeed(); }), "makes no call that can fail"));
}

TEST(FaultHarness, HasEveryKindOfCallInOneOfItsTables) {
    std::array<int, static_cast<std::size_t>(call::count_)> found{};
    for (const fault_kind& kind : fault_kinds()) {
        ++found[static_cast<std::size_t>(kind.which)];
        EXPECT_FALSE(kind.errors.empty()) << kind.name;
    }
    for (const kind_that_cannot_fail& kind : kinds_that_cannot_fail()) {
        ++found[static_cast<std::size_t>(kind.which)];
    }
    for (std::size_t i = 0; i != found.size(); ++i) {
        EXPECT_EQ(found[i], 1) << "the kind number " << i;
    }
}

/// All tests of the suites whose names end in "/" and `scenario`, as "SUITE.TEST".
std::string tests_of(const std::string& scenario) {
    std::string all;
    const auto& program = *::testing::UnitTest::GetInstance();
    for (int i = 0; i != program.total_test_suite_count(); ++i) {
        const ::testing::TestSuite& suite = *program.GetTestSuite(i);
        if (!std::string_view(suite.name()).ends_with("/Scenario" + scenario)) {
            continue;
        }
        for (int j = 0; j != suite.total_test_count(); ++j) {
            all += std::string(suite.GetTestInfo(j)->name()) + "\n";
        }
    }
    return all;
}

/// The suite of that scenario looks whether the kind fires there (MeetsItsFaults).
TEST(FaultHarness, KnowsAScenarioThatReachesEachKind) {
    for (const fault_kind& kind : fault_kinds()) {
        const std::string tests = tests_of(kind.by.scenario);
        const std::string one =
            "MeetsItsFaults/" + std::string(kind.by.only != nullptr ? kind.by.only : "");
        EXPECT_TRUE(has(tests, one)) << kind.name << ": " << kind.by.scenario << " has only\n"
                                     << tests;
    }
}

TEST(FaultHarness, NoticesAKindThatTheScenarioDoesNotReach) {
    const auto failures = failures_when([] {
        const auto nothing = [](attempt& a) { a.succeed(); };
        with_the_faults_of("LoopGroup", {"tried", nothing, [] { return std::uint64_t{0}; }});
    });
    EXPECT_TRUE(has(failures, "affinity is not called")) << failures;
}

/// There EAGAIN says that the kernel has too little of something, and not that there is nothing
/// yet.
bool tells_of_a_lack(call which) {
    return which == call::clone || which == call::thread || which == call::uring_enter ||
           which == call::sigqueue;
}

TEST(FaultHarness, NamesWhatIsLeftOutWhereResultsCannotBeInjected) {
    EXPECT_NE(left_out_on(engine_kind::io_uring, false), nullptr);
    EXPECT_EQ(left_out_on(engine_kind::io_uring, true), nullptr);
    EXPECT_EQ(left_out_on(engine_kind::epoll, false), nullptr);
}

TEST(FaultHarness, InjectsNoErrorThatDescribesAState) {
    for (const fault_kind& kind : fault_kinds()) {
        for (const documented_error& error : kind.errors) {
            for (const int state : {EINPROGRESS, EISCONN, EALREADY, ECHILD, ENOTCONN}) {
                EXPECT_NE(error.error, state) << kind.name;
            }
            EXPECT_TRUE(error.error != EAGAIN || tells_of_a_lack(kind.which)) << kind.name;
        }
    }
}

}  // namespace

}  // namespace eddy::test::harness
