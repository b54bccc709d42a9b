#include "memory/example_server.hpp"
#include "support/fds.hpp"
#include "support/with_every_allocation_failing.hpp"

#include <memory>
#include <string>
#include <vector>

#include <signal.h>

#include <gtest/gtest.h>

// The examples that are no servers, as processes, while their allocations fail.
#ifdef EDDY_TEST_EXAMPLES

namespace eddy::test::memory_programs {

namespace {

class FullExamplePrograms : public ::testing::TestWithParam<const char*> {
protected:
    /// Checks that the program ends in good order or says why it cannot, whatever allocation fails.
    static void end_by_themselves(const std::string& program,
                                  const std::vector<std::string>& arguments, int signal = 0) {
        const scratch_directory scratch;
        for_every_allocation([&](const memory_fault& fault) {
            example_server run({.program = program,
                                .engine = GetParam(),
                                .arguments = arguments,
                                .directory = scratch.path(),
                                .serves = false,
                                .at_start = fault});
            if (signal != 0) {
                run.waits();
            }
            run.ask_to_stop(signal);
            const int status = run.ending();
            EXPECT_LT(status, 128) << run.last_words();
            EXPECT_TRUE(status == 0 || !run.last_words().empty()) << "no word of " << status;
            return run.faults().end();
        });
    }
};

TEST_P(FullExamplePrograms, StdinEchoEnds) { end_by_themselves("stdin_echo", {}); }

TEST_P(FullExamplePrograms, TailFollowEnds) {
    const scratch_directory scratch;
    static_cast<void>(scratch.file("log", "one\ntwo\n"));
    end_by_themselves("tail_follow", {scratch.path("log")});
}

TEST_P(FullExamplePrograms, JobsEnds) {
    end_by_themselves("jobs", {"1", "10", "/bin/true", ":::", "a", "b"});
}

TEST_P(FullExamplePrograms, FdcatEnds) {
    const example_server echo({.program = "echo_coroutine", .arguments = {"0"}});
    end_by_themselves("fdcat", {"127.0.0.1:" + std::to_string(echo.port())});
}

TEST_P(FullExamplePrograms, SupervisorEnds) {
    const scratch_directory scratch;
    static_cast<void>(scratch.file("services", "a /bin/sleep 100\nb /bin/sleep 100\n"));
    end_by_themselves("supervisor", {scratch.path("services")}, SIGTERM);
}

#ifdef EDDY_TEST_HTTP_FILES
TEST_P(FullExamplePrograms, DownloadEnds) {
    const scratch_directory files;
    static_cast<void>(files.file("a", "content"));
    const example_server server({.program = "http_files", .arguments = {"0", files.path()}});
    const std::string url = "http://127.0.0.1:" + std::to_string(server.port());
    end_by_themselves("download", {"2", url + "/a", url + "/b"});
}
#endif

INSTANTIATE_TEST_SUITE_P(Memory, FullExamplePrograms,
                         ::testing::Values("epoll", "io_uring", "poll"),
                         [](const auto& of) { return std::string(of.param); });

}  // namespace

}  // namespace eddy::test::memory_programs

#endif
