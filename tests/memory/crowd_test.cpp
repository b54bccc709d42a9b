// SPDX-License-Identifier: Apache-2.0
#include "memory/example_server.hpp"
#include "memory/visits.hpp"
#include "support/fds.hpp"
#include "support/patience.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <gtest/gtest.h>

// Servers whose address space is limited, and more connections than fit.
#ifdef EDDY_TEST_EXAMPLES

namespace eddy::test::memory_crowd {

namespace {

/// What each visitor says, and how the answer ends.
struct exchange {
    std::string_view request;
    std::string_view end_of_answer;
};

/// Connections that each say something and stay.
class crowd {
public:
    crowd(unsigned short port, const exchange& says, std::size_t size) : says_(says) {
        for (std::size_t i = 0; i != size; ++i) {
            unique_fd fd = tcp_connect(port);
            static_cast<void>(
                ::send(fd.get(), says.request.data(), says.request.size(), MSG_NOSIGNAL));
            connections_.push_back({std::move(fd), {}, false});
        }
    }

    /// Waits until each of them is answered or turned away; false if that takes too long.
    bool is_settled() {
        using std::chrono::steady_clock;
        const auto end = steady_clock::now() + patience;
        while (look() != connections_.size()) {
            if (steady_clock::now() > end) {
                return false;
            }
        }
        return true;
    }
    std::size_t answered() const {
        return static_cast<std::size_t>(
            std::count_if(connections_.begin(), connections_.end(),
                          [&](const connection& c) { return is_answered(c) && !c.ended; }));
    }

private:
    struct connection {
        unique_fd fd;
        std::string heard;
        bool ended;
    };

    bool is_answered(const connection& c) const { return c.heard.ends_with(says_.end_of_answer); }
    bool is_settled(const connection& c) const { return c.ended || is_answered(c); }

    /// Waits for those that are not settled, and counts those that are.
    std::size_t look() {
        std::vector<pollfd> waiting;
        for (const connection& c : connections_) {
            waiting.push_back({is_settled(c) ? -1 : c.fd.get(), POLLIN, 0});
        }
        ::poll(waiting.data(), waiting.size(), 100);
        std::size_t settled = 0;
        for (std::size_t i = 0; i != waiting.size(); ++i) {
            connection& c = connections_[i];
            if (waiting[i].fd >= 0 && waiting[i].revents != 0) {
                char data[1024];
                const ssize_t count = ::recv(c.fd.get(), data, sizeof data, MSG_DONTWAIT);
                c.heard.append(data, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
                c.ended = count <= 0;
            }
            settled += is_settled(c) ? 1U : 0U;
        }
        return settled;
    }

    const exchange says_;
    std::vector<connection> connections_;
};

class FullCrowdedServers : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {
protected:
    void SetUp() override {
        rlimit files{};
        ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
        if (files.rlim_max < 2 * many + 100) {
            GTEST_SKIP() << "the limit of open files is too low: ulimit -Hn";
        }
        files.rlim_cur = files.rlim_max;
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);  // servers inherit it
        options_ = {.program = std::get<0>(GetParam()),
                    .engine = std::get<1>(GetParam()),
                    .arguments = {"0"}};
        if (options_.program == "proxy") {
            target_ = std::make_unique<example_server>(
                example_server::options{.program = "echo_coroutine", .arguments = {"0"}});
            options_.arguments.push_back("127.0.0.1:" + std::to_string(target_->port()));
        } else if (options_.program == "http_files") {
            static_cast<void>(files_.file("file", "content"));
            options_.arguments.push_back(files_.path());
            says_ = {"GET /file HTTP/1.1\r\nHost: a\r\n\r\n", "content"};
            visit_ = &visit_files;
        }
    }

    /// Options with as much memory as a start takes, and room for some connections only.
    example_server::options limited() {
        example_server sample(options_);
        EXPECT_TRUE(visit_(sample.port(), sample.faults()));
        example_server::options limited = options_;
        limited.limit_kib = sample.size_kib() + (target_ ? 65536 : 1024);
        return limited;
    }
    bool stops_at_end_of_input() const {
        return options_.program != "echo" && options_.program != "readme";
    }

    static constexpr std::size_t many = 3500;
    exchange says_{"hello", "hello"};

private:
    example_server::options options_;
    visit visit_ = &visit_echo;
    scratch_directory files_;
    std::unique_ptr<example_server> target_;
};

std::string name_of(const ::testing::TestParamInfo<FullCrowdedServers::ParamType>& info) {
    return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
}

TEST_P(FullCrowdedServers, RefuseWhatDoesNotFitAndServeAllAgainWhenTheCrowdHasLeft) {
    example_server server(limited());
    ASSERT_NE(server.port(), 0) << server.last_words();
    const std::size_t fds = server.fd_count();
    std::size_t fit = 0;
    {
        crowd visitors(server.port(), says_, many);
        ASSERT_TRUE(visitors.is_settled()) << server.last_words();
        ASSERT_TRUE(server.runs()) << server.ending() << server.last_words();
        fit = visitors.answered();
        EXPECT_LT(fit, many) << "the limit limits nothing";
        EXPECT_GT(fit, 20U);
    }
    EXPECT_TRUE(server.comes_to_rest_with(fds)) << server.fd_count() << " of " << fds;
    ASSERT_TRUE(server.waits());
    // Freed memory lies in pieces, so the same crowd may not fit to the last visitor.
    const std::size_t nearly_all = fit - fit / 10;
    crowd again(server.port(), says_, nearly_all);
    EXPECT_TRUE(again.is_settled());
    EXPECT_EQ(again.answered(), nearly_all) << server.last_words();
    server.ask_to_stop(stops_at_end_of_input() ? 0 : SIGTERM);
    EXPECT_EQ(server.ending(), stops_at_end_of_input() ? 0 : 1000 + SIGTERM);
}

// A chat room is left out: each of its guests hears all others, so that a crowd is n * n messages.
constexpr const char* programs[] = {
    "echo",       "readme", "echo_coroutine", "echo_sender", "proxy",
#ifdef EDDY_TEST_HTTP_FILES
    "http_files",
#endif
};

INSTANTIATE_TEST_SUITE_P(Memory, FullCrowdedServers,
                         ::testing::Combine(::testing::ValuesIn(programs),
                                            ::testing::Values("epoll", "io_uring", "poll")),
                         name_of);

}  // namespace

}  // namespace eddy::test::memory_crowd

#endif
