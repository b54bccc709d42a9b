// SPDX-License-Identifier: Apache-2.0
#include "memory/example_server.hpp"
#include "memory/visits.hpp"
#include "support/patience.hpp"
#include "support/with_every_allocation_failing.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <signal.h>

#include <gtest/gtest.h>

// The servers among the examples, as processes, while their allocations fail.
#ifdef EDDY_TEST_EXAMPLES

namespace eddy::test::memory_servers {

namespace {

struct kind {
    const char* program;
    visit served;
    bool stops_at_end_of_input;
};

constexpr kind kinds[] = {
    {"echo", &visit_echo, false},          {"readme", &visit_echo, false},
    {"echo_coroutine", &visit_echo, true}, {"echo_sender", &visit_echo, true},
    {"proxy", &visit_echo, true},          {"chat", &visit_chat, true},
#ifdef EDDY_TEST_HTTP_FILES
    {"http_files", &visit_files, true},
#endif
};

class ExampleServers : public ::testing::TestWithParam<std::tuple<kind, const char*>> {
protected:
    void SetUp() override {
        if (program() == "proxy") {
            target_ = std::make_unique<example_server>(
                example_server::options{.program = "echo_coroutine", .arguments = {"0"}});
        } else if (program() == "http_files") {
            static_cast<void>(files_.file("file", "content"));
        }
    }

    static const kind& what() { return std::get<0>(GetParam()); }
    static std::string program() { return what().program; }

    /// `at_start`: what fails before it serves.
    example_server::options options(const std::optional<memory_fault>& at_start = {}) const {
        example_server::options made{.program = program(),
                                     .engine = std::get<1>(GetParam()),
                                     .arguments = {"0"},
                                     .at_start = at_start};
        if (target_) {
            made.arguments.push_back("127.0.0.1:" + std::to_string(target_->port()));
        } else if (program() == "http_files") {
            made.arguments.push_back(files_.path());
        }
        return made;
    }

    static bool visit(example_server& server) {
        return what().served(server.port(), server.faults());
    }

    static bool serves(example_server& server) {
        const bool served = server.runs() && visit(server);
        if (!served) {
            const bool runs = server.runs();
            ADD_FAILURE() << "the server " << (runs ? "does not serve" : "has ended with ")
                          << (runs ? "" : std::to_string(server.ending())) << ": "
                          << server.last_words();
        }
        return served;
    }

    /// More at once than a test has: what the server keeps for the next ones is there then.
    static void warm_up(example_server& server) {
        std::vector<std::thread> visits;
        for (int i = 0; i != 4; ++i) {
            visits.emplace_back([&] { visit(server); });
        }
        for (std::thread& one : visits) {
            one.join();
        }
        EXPECT_TRUE(visit(server));
    }

    struct holdings {
        std::int64_t blocks;
        std::size_t fds;
    };
    static holdings held_by(example_server& server) {
        return {server.faults().live.load(), server.fd_count()};
    }
    /// What the server holds when nobody visits it.
    static holdings at_rest(example_server& server) {
        holdings least = held_by(server);
        for (int i = 0; i != 50; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            const holdings now = held_by(server);
            least = {std::min(least.blocks, now.blocks), std::min(least.fds, now.fds)};
        }
        return least;
    }
    /// Waits until the server holds no more than that.
    static ::testing::AssertionResult comes_to_rest_with(const holdings& rest,
                                                         example_server& server) {
        using std::chrono::steady_clock;
        holdings now = held_by(server);
        for (const auto end = steady_clock::now() + patience; steady_clock::now() < end;) {
            now = held_by(server);
            if (now.blocks <= rest.blocks && now.fds <= rest.fds) {
                return ::testing::AssertionSuccess();
            }
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
        return ::testing::AssertionFailure() << now.blocks << " blocks instead of " << rest.blocks
                                             << ", " << now.fds << " fds instead of " << rest.fds;
    }

    /// Ends in good order: those that do not listen to their input end by a signal.
    static void stop(example_server& server) {
        server.ask_to_stop(what().stops_at_end_of_input ? 0 : SIGTERM);
        EXPECT_EQ(server.ending(), what().stops_at_end_of_input ? 0 : 1000 + SIGTERM)
            << server.last_words();
    }

private:
    std::unique_ptr<example_server> target_;
    scratch_directory files_;
};

std::string name_of(const ::testing::TestParamInfo<ExampleServers::ParamType>& info) {
    return std::string(std::get<0>(info.param).program) + "_" + std::get<1>(info.param);
}

TEST_P(ExampleServers, GoOnWhenAnyAllocationOfAVisitFails) {
    example_server server(options());
    ASSERT_NE(server.port(), 0) << server.last_words();
    warm_up(server);
    const holdings rest = at_rest(server);
    for_every_allocation([&](const memory_fault& fault) {
        fault.begin(server.faults());
        visit(server);
        const bool failed = server.faults().end();
        EXPECT_TRUE(serves(server));
        EXPECT_TRUE(comes_to_rest_with(rest, server));
        return failed;
    });
    stop(server);
}

/// A reset is an error that is thrown, in words that are allocated.
TEST_P(ExampleServers, GoOnAfterAResetForWhichThereIsNoMemory) {
    example_server server(options());
    ASSERT_NE(server.port(), 0) << server.last_words();
    warm_up(server);
    const holdings rest = at_rest(server);
    visitor inside(server.port());
    inside.say("hello\n");
    inside.hears("\n", server.faults());
    server.faults().begin(1, memory_faults::how::from_then_on);
    inside.reset();
    EXPECT_TRUE(comes_to_rest_with(rest, server));
    server.faults().end();
    EXPECT_TRUE(serves(server));
    stop(server);
}

TEST_P(ExampleServers, EndWhileEveryAllocationFails) {
    example_server server(options());
    ASSERT_NE(server.port(), 0) << server.last_words();
    warm_up(server);
    visitor inside(server.port());
    inside.say("hello\n");
    inside.hears("\n", server.faults());
    server.faults().begin(1, memory_faults::how::from_then_on);
    stop(server);
}

using FullExampleServers = ExampleServers;

TEST_P(FullExampleServers, StartOrSayThatTheyCannotWhenAnyAllocationFails) {
    for_every_allocation([&](const memory_fault& fault) {
        example_server server(options(fault));
        const bool started = server.port() != 0 && server.waits();
        const bool failed = server.faults().end();
        if (started && visit(server)) {
            stop(server);
        } else {
            EXPECT_EQ(server.ending(), 1) << server.last_words();
            EXPECT_NE(server.last_words(), "");
        }
        return failed;
    });
}

TEST_P(FullExampleServers, GoOnWhenAnyAllocationOfTheFirstVisitFails) {
    for_every_allocation([&](const memory_fault& fault) {
        example_server server(options());
        EXPECT_TRUE(server.waits()) << server.last_words();
        fault.begin(server.faults());
        visit(server);
        const bool failed = server.faults().end();
        EXPECT_TRUE(serves(server));
        stop(server);
        return failed;
    });
}

#ifdef EDDY_TEST_HTTP_FILES
/// The file server alone, which can say that it has no memory.
class FileServer : public ::testing::TestWithParam<const char*> {};

/// Over a connection that is there. The name is one that needs memory.
TEST_P(FileServer, AnswersThatItCannotServeWhatItHasNoMemoryForAndSaysSo) {
    const scratch_directory files;
    const std::string name = "a-file-with-a-name-that-no-string-holds-inside";
    static_cast<void>(files.file(name, "content"));
    example_server server(
        {.program = "http_files", .engine = GetParam(), .arguments = {"0", files.path()}});
    ASSERT_NE(server.port(), 0) << server.last_words();
    const std::string request = "GET /" + name + " HTTP/1.1\r\nHost: a\r\n";
    std::size_t refusals = 0;
    for_every_allocation([&](const memory_fault& fault) {
        visitor client(server.port());
        client.say(request + "\r\n");
        EXPECT_TRUE(client.hears("content", server.faults()));
        EXPECT_TRUE(server.waits());
        const std::size_t before = client.heard().size();
        const std::size_t words_before = server.all_words().size();
        fault.begin(server.faults());
        client.say(request + "Connection: close\r\n\r\n");
        client.hears_out(server.faults());
        const bool failed = server.faults().end();
        const std::string answer = client.heard().substr(before);
        const std::string words = server.all_words().substr(words_before);
        const bool whole = answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("content");
        const bool broken =
            answer.starts_with("HTTP/1.1 200 ") && words.find("broke off") != words.npos;
        const bool refused =
            answer.starts_with("HTTP/1.1 503 ") && words.find("cannot serve") != words.npos;
        EXPECT_TRUE(whole || broken || refused) << answer << words;
        refusals += refused ? 1 : 0;
        return failed;
    });
    EXPECT_GE(refusals, 6U) << "for the path, for its copies, for the task, each once and for good";
    server.ask_to_stop();
    EXPECT_EQ(server.ending(), 0) << server.last_words();
}
INSTANTIATE_TEST_SUITE_P(Memory, FileServer, ::testing::Values("epoll", "io_uring", "poll"),
                         [](const auto& engine) { return engine.param; });
#endif

const auto all =
    ::testing::Combine(::testing::ValuesIn(kinds), ::testing::Values("epoll", "io_uring", "poll"));
INSTANTIATE_TEST_SUITE_P(Memory, ExampleServers, all, name_of);
INSTANTIATE_TEST_SUITE_P(Memory, FullExampleServers, all, name_of);

}  // namespace

}  // namespace eddy::test::memory_servers

#endif
