// SPDX-License-Identifier: Apache-2.0
#include <eddy/base/assert.hpp>
#include <eddy/base/report.hpp>

#include "base/report.hpp"
#include "base/report_limit.hpp"
#include "support/in_child.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

namespace eddy::test::report_test {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> heard;
void listen_to(std::string_view line) noexcept { heard.emplace_back(line); }
void ignore(std::string_view) noexcept {}

struct Report : ::testing::Test {
    Report() { heard.clear(); }
    ~Report() override { eddy::set_report_handler(nullptr); }
};

/// Everything that `body` prints in a process of its own, whose burst is still whole.
template <class Body>
std::string printed_by(Body body) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    EXPECT_EQ(in_child([&] {
                  ::dup2(ends[1], STDERR_FILENO);
                  body();
                  return 0;
              }),
              0);
    ::close(ends[1]);
    std::string text(65536, '\0');
    const auto got = ::read(ends[0], text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    ::close(ends[0]);
    return text;
}

TEST_F(Report, IsOneLineOnStandardErrorByDefault) {
    EXPECT_EQ(printed_by([] { eddy::report("the kettle is empty"); }),
              "eddy: the kettle is empty\n");
}

TEST_F(Report, IsOneLineEvenIfItsTextHasSeveral) {
    EXPECT_EQ(printed_by([] { eddy::report("one\ntwo\r\n"); }), "eddy: one two  \n");
}

TEST_F(Report, IsCutWhenItIsLong) {
    const std::string text = printed_by([] { eddy::report(std::string(5000, 'x')); });
    EXPECT_EQ(text.size(), 501U);
    EXPECT_EQ(text.back(), '\n');
    EXPECT_EQ(std::ranges::count(text, '\n'), 1);
}

TEST_F(Report, IsFormatted) {
    eddy::set_report_handler(listen_to);
    eddy::reportf("%d of %s", 3, "ten");
    eddy::reportf("%s", std::string(5000, 'x').c_str());
    EXPECT_EQ(heard, (std::vector<std::string>{"3 of ten", std::string(500, 'x')}));
}

TEST_F(Report, GoesToTheHandlerAndNowhereElse) {
    EXPECT_EQ(printed_by([] {
                  eddy::set_report_handler(listen_to);
                  eddy::report("a line");
                  EXPECT_EQ(heard, std::vector<std::string>{"a line"});
              }),
              "");
}

TEST_F(Report, GivesAHandlerEveryLine) {
    eddy::set_report_handler(listen_to);
    for (int i = 0; i < 1000; ++i) {
        eddy::report("again");
    }
    EXPECT_EQ(heard.size(), 1000U);
}

TEST_F(Report, ReturnsTheHandlerBefore) {
    EXPECT_EQ(eddy::set_report_handler(listen_to), nullptr);
    EXPECT_EQ(eddy::set_report_handler(ignore), &listen_to);
    EXPECT_EQ(eddy::set_report_handler(nullptr), &ignore);
}

TEST_F(Report, PrintsABurstOnlyAndCountsTheRest) {
    const std::string text = printed_by([] {
        for (int i = 0; i < 1000; ++i) {
            eddy::report("flood");
        }
    });
    // A slow machine may be here for more than one interval.
    EXPECT_GE(std::ranges::count(text, '\n'), report_limit::burst);
    EXPECT_LT(std::ranges::count(text, '\n'), 100);
}

TEST_F(Report, TellsHowManyWereLeftOutBeforeTheNextLine) {
    const std::string text = printed_by([] {
        for (int i = 0; i < 1000; ++i) {
            eddy::report("flood");
        }
        std::this_thread::sleep_for(report_limit::interval);
        eddy::report("ebb");
    });
    // The flood may have lasted for more than one interval: what was printed and what was left out
    // is all of it.
    constexpr std::string_view flood = "eddy: flood\n";
    std::size_t told = 0;
    for (std::size_t at = 0; (at = text.find("eddy: ", at)) != text.npos; at += 6) {
        const std::string_view line = std::string_view(text).substr(at);
        told += line.starts_with(flood)
                    ? 1
                    : std::strtoul(line.substr(6).data(), nullptr, 10);  // 0 for "ebb"
    }
    EXPECT_EQ(told, 1000U) << text;
    EXPECT_NE(text.find("eddy: ebb\n"), text.npos) << text;
    EXPECT_TRUE(text.ends_with(" reports before this one were left out\n")) << text;
}

TEST(ReportLimit, AdmitsABurstAndThenOnePerInterval) {
    report_limit limit;
    time_point now = time_point(1000s);
    for (int i = 0; i < report_limit::burst; ++i) {
        EXPECT_TRUE(limit.admit(now)) << i;
    }
    EXPECT_FALSE(limit.admit(now));
    EXPECT_FALSE(limit.admit(now + report_limit::interval - 1ns));
    EXPECT_EQ(limit.take_left_out(), 2U);
    EXPECT_EQ(limit.take_left_out(), 0U);
    EXPECT_TRUE(limit.admit(now + report_limit::interval));
    EXPECT_FALSE(limit.admit(now + report_limit::interval));
}

TEST(ReportLimit, IsWholeAgainAfterAQuietTime) {
    report_limit limit;
    time_point now = time_point(1000s);
    while (limit.admit(now)) {}
    now += report_limit::burst * report_limit::interval;
    int admitted = 0;
    while (limit.admit(now)) {
        ++admitted;
    }
    EXPECT_EQ(admitted, report_limit::burst);
}

TEST_F(Report, HasTheLastWordsOfAnAssertionAfterAFlood) {
    const auto flood_and_fail = [] {
        for (int i = 0; i < 1000; ++i) {
            eddy::report("flood");
        }
        EDDY_ASSERT(heard.size() == 1, "nothing was heard");
    };
    EXPECT_EXIT(flood_and_fail(), ::testing::KilledBySignal(SIGABRT), "eddy: nothing was heard");
}

TEST_F(Report, GivesAnAssertionToTheHandler) {
    const auto fail = [] {
        eddy::set_report_handler([](std::string_view line) noexcept {
            ::_exit(line.starts_with("nothing was heard (") ? 7 : 8);
        });
        EDDY_ASSERT(heard.size() == 1, "nothing was heard");
    };
    EXPECT_EXIT(fail(), ::testing::ExitedWithCode(7), "^$");
}

}  // namespace
}  // namespace eddy::test::report_test
