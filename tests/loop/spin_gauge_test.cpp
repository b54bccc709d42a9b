// SPDX-License-Identifier: Apache-2.0
#include <eddy/loop/detail/spin_gauge.hpp>

#include <gtest/gtest.h>

namespace eddy::test::spin_gauge_test {
namespace {

/// How many of the next waits would begin with a spin that finds nothing.
int spins_in(spin_gauge& gauge, int waits) {
    int spins = 0;
    for (int i = 0; i != waits; ++i) {
        if (gauge.wants()) {
            gauge.found_nothing();
            ++spins;
        }
    }
    return spins;
}

spin_gauge one_that_trusts() {
    spin_gauge gauge;
    for (int i = 0; i != 100; ++i) {
        gauge.found_something();
    }
    return gauge;
}

TEST(SpinGauge, TriesOnce) {
    spin_gauge gauge;
    EXPECT_TRUE(gauge.wants());
    gauge.found_nothing();
    EXPECT_FALSE(gauge.wants());
}

TEST(SpinGauge, SpinsSeldomWhenNothingIsFound) {
    spin_gauge gauge;
    EXPECT_EQ(spins_in(gauge, 1 + 64 * 10), 1 + 10);
}

TEST(SpinGauge, SpinsEachTimeWhileItPays) {
    spin_gauge gauge;
    for (int i = 0; i != 1000; ++i) {
        ASSERT_TRUE(gauge.wants()) << i;
        gauge.found_something();
    }
}

TEST(SpinGauge, AFewMissesDoNotStopOneThatPays) {
    spin_gauge gauge = one_that_trusts();
    for (int i = 0; i != 1000; ++i) {
        ASSERT_TRUE(gauge.wants()) << i;
        if (i % 3 == 0) {
            gauge.found_nothing();
        } else {
            gauge.found_something();
        }
    }
}

TEST(SpinGauge, ManyMissesStopIt) {
    spin_gauge gauge = one_that_trusts();
    EXPECT_LE(spins_in(gauge, 63), 8);
}

TEST(SpinGauge, GoesOnAfterASpinThatPaid) {
    spin_gauge gauge;
    spins_in(gauge, 1000);
    while (!gauge.wants()) {}
    gauge.found_something();
    EXPECT_TRUE(gauge.wants());
    gauge.found_nothing();
    EXPECT_FALSE(gauge.wants()) << "one is not enough to believe in it again";
}

TEST(SpinGauge, ATryThatSaysNothingIsMadeAgain) {
    spin_gauge gauge;
    EXPECT_EQ(spins_in(gauge, 64), 1);
    EXPECT_TRUE(gauge.wants());  // and at its first look everything is there already
    EXPECT_TRUE(gauge.wants());
    gauge.found_nothing();
    EXPECT_FALSE(gauge.wants());
}

TEST(SpinGauge, AuditsEachSpinUntilItTrustsThemAndThenOneInSixteen) {
    spin_gauge gauge;
    EXPECT_TRUE(gauge.audits());
    gauge.found_nothing();
    EXPECT_TRUE(gauge.audits());
    gauge = one_that_trusts();
    int audits = 0;
    for (int i = 0; i != 160; ++i) {
        audits += gauge.audits() ? 1 : 0;
        gauge.found_something();
    }
    EXPECT_EQ(audits, 10);
}

TEST(SpinGauge, IsDoubtfulAfterAnAuditThatFailedAndStopsAfterTheNext) {
    spin_gauge gauge = one_that_trusts();
    gauge.was_pushed_away();
    EXPECT_TRUE(gauge.wants());
    EXPECT_TRUE(gauge.audits());
    gauge.was_pushed_away();
    EXPECT_FALSE(gauge.wants());
}

TEST(SpinGauge, TrustsAgainAfterOneAuditThatFailed) {
    spin_gauge gauge = one_that_trusts();
    gauge.was_pushed_away();
    gauge.found_something();
    EXPECT_FALSE(gauge.audits());
}

}  // namespace
}  // namespace eddy::test::spin_gauge_test
