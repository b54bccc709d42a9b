// SPDX-License-Identifier: Apache-2.0
#include <eddy/os/signal_set.hpp>

#include <system_error>
#include <vector>

#include <gtest/gtest.h>

namespace eddy::test::signal_set_test {
namespace {

TEST(SignalSet, HoldsWhatWasAddedAndNotRemoved) {
    signal_set set{SIGINT, SIGTERM};
    set.add(SIGRTMAX).remove(SIGINT);
    EXPECT_FALSE(set.contains(SIGINT));
    EXPECT_TRUE(set.contains(SIGTERM));
    EXPECT_TRUE(set.contains(SIGRTMAX));
    EXPECT_EQ(set, (signal_set{SIGTERM, SIGRTMAX}));
    EXPECT_FALSE(set.empty());
    EXPECT_TRUE(signal_set().empty());
}

TEST(SignalSet, RefusesNumbersThatAreNoSignalsAndThoseOfTheCLibrary) {
    for (const int bad : {-1, 0, 32, 33, SIGRTMAX + 1, 65, 1000}) {
        EXPECT_FALSE(signal_set::valid(bad)) << bad;
        EXPECT_FALSE(signal_set().contains(bad)) << bad;
        signal_set set;
        EXPECT_THROW(set.add(bad), std::system_error) << bad;
        EXPECT_THROW(set.remove(bad), std::system_error) << bad;
        EXPECT_THROW((signal_set{SIGINT, bad}), std::system_error) << bad;
        EXPECT_TRUE(set.empty());
    }
    for (const int good : {1, 31, SIGRTMIN, SIGRTMAX}) {
        EXPECT_TRUE(signal_set::valid(good)) << good;
    }
}

TEST(SignalSet, IsWhatTheKernelCallsIt) {
    const signal_set set{SIGHUP, SIGUSR1, SIGRTMIN, SIGRTMAX};
    const sigset_t native = set.native();
    for (int signum = 1; signum <= 64; ++signum) {
        EXPECT_EQ(sigismember(&native, signum) == 1, set.contains(signum)) << signum;
    }
    EXPECT_EQ(signal_set(native), set);
    sigset_t all;
    sigfillset(&all);
    EXPECT_TRUE(signal_set(all).includes(set));
}

TEST(SignalSet, IsVisitedInAscendingOrder) {
    std::vector<int> seen;
    signal_set{SIGRTMAX, SIGINT, SIGHUP}.for_each([&](int signum) { seen.push_back(signum); });
    EXPECT_EQ(seen, (std::vector<int>{SIGHUP, SIGINT, SIGRTMAX}));
}

TEST(SignalSet, IsJoinedAndTakenApart) {
    const signal_set both = signal_set{SIGINT} | signal_set{SIGTERM};
    EXPECT_EQ(both, (signal_set{SIGINT, SIGTERM}));
    EXPECT_EQ(both - signal_set{SIGINT}, signal_set{SIGTERM});
    EXPECT_TRUE(both.includes(signal_set{SIGTERM}));
    EXPECT_FALSE(both.includes(signal_set{SIGTERM, SIGHUP}));
}

}  // namespace
}  // namespace eddy::test::signal_set_test
