// SPDX-License-Identifier: Apache-2.0
#include "memory/example_server.hpp"
#include "support/fds.hpp"
#include "support/with_every_allocation_failing.hpp"

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

// The examples that are no servers, as processes, while their allocations fail.
#ifdef EDDY_TEST_EXAMPLES

namespace eddy::test::memory_programs {

namespace {

/// Answers each DNS query at once: the name has no address.
class dns_server {
public:
    dns_server() : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in here{};
        here.sin_family = AF_INET;
        here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof here;
        auto* const address = reinterpret_cast<sockaddr*>(&here);
        EXPECT_EQ(::bind(fd_.get(), address, size), 0);
        EXPECT_EQ(::getsockname(fd_.get(), address, &size), 0);
        name_ = "127.0.0.1:" + std::to_string(ntohs(here.sin_port));
        thread_ = std::thread([this] { serve(); });
    }
    dns_server(const dns_server&) = delete;
    dns_server& operator=(const dns_server&) = delete;
    ~dns_server() {
        stop_.second = {};
        thread_.join();
    }
    const std::string& name() const { return name_; }

private:
    void serve() {
        std::array<pollfd, 2> waiting{{{fd_.get(), POLLIN, 0}, {stop_.first.get(), POLLIN, 0}}};
        while (::poll(waiting.data(), waiting.size(), -1) >= 0 && waiting[1].revents == 0) {
            std::array<unsigned char, 512> message{};
            sockaddr_in from{};
            socklen_t size = sizeof from;
            auto* const address = reinterpret_cast<sockaddr*>(&from);
            const ssize_t count =
                ::recvfrom(fd_.get(), message.data(), message.size(), 0, address, &size);
            if (count > 2) {
                message[2] |= 0x80U;  // from a query to an answer
                ::sendto(fd_.get(), message.data(), static_cast<std::size_t>(count), 0, address,
                         size);
            }
        }
    }

    unique_fd fd_;
    fd_pair stop_ = make_pipe();
    std::string name_;
    std::thread thread_;
};

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

TEST_P(FullExamplePrograms, DnsQueryEnds) {
    const dns_server server;
    end_by_themselves("dns_query", {server.name(), "example.org"});
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
