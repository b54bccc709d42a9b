// SPDX-License-Identifier: Apache-2.0
// ./bench --check: what it makes of results that were made up.

#include "driver/check.hpp"
#include "driver/json.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace eddy::test::bench_check_test {
namespace {

using bench::target;
using bench::verdict;

/// Results as --json writes them, in a file that goes away.
class BenchCheck : public ::testing::Test {
protected:
    BenchCheck() {
        const int fd = ::mkstemp(name_.data());
        EXPECT_GE(fd, 0);
        ::close(fd);
    }
    ~BenchCheck() override { std::remove(name_.c_str()); }

    void line(const std::string& subject, const std::string& metric, const std::string& value,
              const std::string& ratio) {
        std::ofstream(name_, std::ios::app)
            << "{\"suite\":\"timer\",\"case\":\"1M\",\"subject\":\"" + subject +
                   "\",\"metric\":\"" + metric + "\",\"value\":" + value +
                   ",\"ratio_to_raw\":" + ratio + "}\n";
    }

    /// The reference, which differs from itself by 2 %.
    void reference() {
        line("raw_heap", "set_ns", "100", "1");
        line("raw_heap_again", "set_ns", "101", "1.01");
        line("raw_heap_again", "set_ns_q1", "99", "0.99");
        line("raw_heap_again", "set_ns_q3", "102", "1.02");
    }

    verdict judge(const target& t) { return bench::judge(bench::read_json(name_), {t}).front(); }

    static target at_most(double limit) {
        return {"timer", "1M", "eddy_epoll", "set_ns", target::kind::ratio_max, limit};
    }

    std::string name_ = ::testing::TempDir() + "bench_check_XXXXXX";
};

TEST_F(BenchCheck, ARatioThatIsReachedPasses) {
    reference();
    line("eddy_epoll", "set_ns", "114", "1.14");
    EXPECT_EQ(judge(at_most(1.15)).how, verdict::outcome::ok);
    EXPECT_TRUE(bench::print_check({judge(at_most(1.15))}));
}

TEST_F(BenchCheck, ARatioThatIsMissedByMoreThanTheNoiseFails) {
    reference();
    line("eddy_epoll", "set_ns", "118", "1.18");
    EXPECT_EQ(judge(at_most(1.15)).how, verdict::outcome::missed);
    EXPECT_FALSE(bench::print_check({judge(at_most(1.15))}));
}

TEST_F(BenchCheck, ARatioThatTheOtherBuildMissesTooDoesNotFail) {
    reference();
    line("eddy_epoll", "set_ns", "118", "1.18");
    line("eddy_epoll_before", "set_ns", "119", "1.19");
    EXPECT_EQ(judge(at_most(1.15)).how, verdict::outcome::missed_before);
    EXPECT_DOUBLE_EQ(judge(at_most(1.15)).before, 1.19);
    EXPECT_TRUE(bench::print_check({judge(at_most(1.15))}));
}

TEST_F(BenchCheck, ARatioThatTheOtherBuildReachesFails) {
    reference();
    line("eddy_epoll", "set_ns", "118", "1.18");
    line("eddy_epoll_before", "set_ns", "116", "1.16");
    EXPECT_EQ(judge(at_most(1.15)).how, verdict::outcome::missed);
    EXPECT_FALSE(bench::print_check({judge(at_most(1.15))}));
}

TEST_F(BenchCheck, ARatioThatIsMissedByLessThanTheNoisePasses) {
    reference();
    line("eddy_epoll", "set_ns", "117", "1.17");
    const verdict v = judge(at_most(1.15));
    EXPECT_EQ(v.how, verdict::outcome::ok);
    EXPECT_DOUBLE_EQ(v.measured, 1.17);
    EXPECT_NEAR(v.noise, .02, 1e-9);
}

TEST_F(BenchCheck, OneMissedTargetAmongManyFails) {
    reference();
    line("eddy_epoll", "set_ns", "118", "1.18");
    EXPECT_FALSE(bench::print_check({judge(at_most(2)), judge(at_most(1.15)), judge(at_most(3))}));
}

TEST_F(BenchCheck, WhatMustBeAtLeastSomethingFailsBelowIt) {
    reference();
    line("eddy_epoll", "set_ns", "60", "0.6");
    target t = at_most(.7);
    t.what = target::kind::ratio_min;
    EXPECT_EQ(judge(t).how, verdict::outcome::missed);
    t.limit = .61;
    EXPECT_EQ(judge(t).how, verdict::outcome::ok);
}

TEST_F(BenchCheck, ARatioToAPeerIsThatOfTheValues) {
    reference();
    line("libev", "set_ns", "200", "2");
    line("eddy_epoll", "set_ns", "150", "1.5");
    target t = at_most(.8);
    t.peer = "libev";
    EXPECT_DOUBLE_EQ(judge(t).measured, .75);
    EXPECT_EQ(judge(t).how, verdict::outcome::ok);
    t.limit = .7;
    EXPECT_EQ(judge(t).how, verdict::outcome::missed);
}

TEST_F(BenchCheck, NothingMayBeBelowZeroWhateverTheNoise) {
    reference();
    line("eddy_epoll", "set_ns", "-0.001", "-0.00001");
    target t = at_most(0);
    t.what = target::kind::value_min;
    EXPECT_EQ(judge(t).how, verdict::outcome::missed);
}

TEST_F(BenchCheck, ASubjectThatCouldNotRunFails) {
    reference();
    line("eddy_epoll", "set_ns", "null", "null");
    EXPECT_EQ(judge(at_most(1.15)).how, verdict::outcome::not_there);
    EXPECT_FALSE(bench::print_check({judge(at_most(1.15))}));
}

TEST_F(BenchCheck, WhatWasNotMeasuredIsNoFailureButNothingAtAllIs) {
    reference();
    line("eddy_epoll", "set_ns", "100", "1");
    target other = at_most(1);
    other.suite = "churn";
    EXPECT_EQ(judge(other).how, verdict::outcome::not_measured);
    EXPECT_TRUE(bench::print_check({judge(other), judge(at_most(1.15))}));
    EXPECT_FALSE(bench::print_check({judge(other)}));
}

TEST_F(BenchCheck, SomethingElseThanResultsIsRefused) {
    std::ofstream(name_) << "not what --json writes\n";
    EXPECT_THROW(bench::read_json(name_), std::runtime_error);
    EXPECT_THROW(bench::read_json(name_ + ".nowhere"), std::runtime_error);
}

TEST(BenchTargets, HaveNamesOfTheirOwn) {
    std::vector<std::string> names;
    for (const target& t : bench::all_targets()) names.push_back(t.name());
    EXPECT_FALSE(names.empty());
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace eddy::test::bench_check_test
