// SPDX-License-Identifier: Apache-2.0
// Cases that go wrong in every way, for the test of run_suite.py.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include <unistd.h>

namespace {

TEST(Accident, Before) {}
TEST(Accident, Crashes) { std::abort(); }
TEST(Accident, Between) {}
TEST(Accident, Exits) { ::_exit(3); }
TEST(Accident, Hangs) {
    for (;;) {
        ::pause();
    }
}
TEST(Accident, Fails) { FAIL() << "on purpose"; }
TEST(Accident, Skipped) { GTEST_SKIP() << "on purpose"; }
TEST(Accident, Last) {}

// As a leak does that a sanitizer finds when the process ends.
TEST(AtTheEnd, Innocent) {}
TEST(AtTheEnd, Guilty) {
    std::atexit([] { ::_exit(7); });
}
TEST(AtTheEnd, InnocentToo) {}
TEST(AtTheEnd, GuiltyToo) {
    std::atexit([] { ::_exit(8); });
}
TEST(AtTheEnd, Fails) { FAIL() << "on purpose"; }

TEST(Talk, WithoutEnd) {
    for (;;) {
        std::puts("and so on");
    }
}

}  // namespace
