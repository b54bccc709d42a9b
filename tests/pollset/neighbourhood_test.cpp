// SPDX-License-Identifier: Apache-2.0
// Whom the strategy `epoll1` calls to poll next: not one that would push the caller off its core.
#include "kernel/thread.hpp"
#include "support/pollset_fixture.hpp"

#include <vector>

#include <sched.h>

namespace eddy::test::neighbourhood_test {
namespace {

std::vector<unsigned> cores_for_us() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    EXPECT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
    std::vector<unsigned> cores;
    for (unsigned core = 0; core != CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &allowed)) {
            cores.push_back(core);
        }
    }
    return cores;
}

class Neighbourhoods : public PollsetTest {
protected:
    /// A pollset and a thread in it that stays on one core.
    struct resident {
        resident(poll_domain& domain, unsigned core)
            : set(domain), thread([this, core] {
                  EXPECT_FALSE(kernel::pin_to_core(core));
                  why = *set.work(soon());
              }) {}
        void leave() {
            set.kick_any();
            thread.join();
            EXPECT_EQ(why, work_end::kicked);
        }

        pollset set;
        work_end why{};
        std::thread thread;
    };

    bool sleep(std::uint64_t how_many) {
        return comes([&] { return domain().counters().sleeps == how_many; });
    }
};

TEST_P(Neighbourhoods, TheNextPollerIsCalledFromAnotherOne) {
    const std::vector<unsigned> cores = cores_for_us();
    if (cores.size() < 2) {
        GTEST_SKIP() << "there is one core";
    }
    for (const bool other_comes_first : {false, true}) {
        const poll_counters before = domain().counters();
        resident polls(domain(), cores[0]);
        ASSERT_TRUE(waits(before.waits));
        resident first(domain(), other_comes_first ? cores[1] : cores[0]);
        ASSERT_TRUE(sleep(before.sleeps + 1));
        resident second(domain(), other_comes_first ? cores[0] : cores[1]);
        ASSERT_TRUE(sleep(before.sleeps + 2));
        resident& same = other_comes_first ? second : first;
        resident& other = other_comes_first ? first : second;

        polls.leave();
        ASSERT_TRUE(waits(before.waits + 1));
        const auto out_of_the_kernel = [&] { return domain().counters().poller_wakes; };
        EXPECT_EQ(out_of_the_kernel(), before.poller_wakes + 1);
        same.leave();
        EXPECT_EQ(out_of_the_kernel(), before.poller_wakes + 1) << "it polled";
        other.leave();
        EXPECT_EQ(out_of_the_kernel(), before.poller_wakes + 2);
    }
}

TEST_P(Neighbourhoods, SomebodyIsCalledAlsoIfAllAreOfOne) {
    const std::vector<unsigned> cores = cores_for_us();
    const std::uint64_t waited = domain().counters().waits;
    resident polls(domain(), cores.front());
    ASSERT_TRUE(waits(waited));
    resident sleeps(domain(), cores.front());
    ASSERT_TRUE(sleep(1));
    polls.leave();
    EXPECT_TRUE(waits(waited + 1));
    sleeps.leave();
}

INSTANTIATE_TEST_SUITE_P(Strategy, Neighbourhoods, ::testing::Values(poll_strategy::epoll1),
                         strategy_name);

}  // namespace
}  // namespace eddy::test::neighbourhood_test
