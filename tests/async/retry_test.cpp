// SPDX-License-Identifier: Apache-2.0
#include "async/running.hpp"
#include "ex/support.hpp"
#include "support/engine_fixture.hpp"

#include <eddy/async/retry.hpp>

#include <memory>
#include <stdexcept>
#include <vector>

namespace eddy::test::retry_test {
namespace {

using ex_testing::manual_event;

std::vector<duration> delays(const retry_policy& policy) {
    detail::back_off delays_of(policy);
    std::vector<duration> result;
    while (const auto delay = delays_of.next()) result.push_back(*delay);
    return result;
}

TEST(BackOff, GrowsUpToItsLimit) {
    EXPECT_EQ(delays({.tries_max = 6, .delay = 100ms, .delay_max = 500ms, .jitter = 0}),
              (std::vector<duration>{100ms, 200ms, 400ms, 500ms, 500ms}));
}

TEST(BackOff, JitterIsAPartOfTheDelayAndComesFromTheSeed) {
    const retry_policy policy = {
        .tries_max = 200, .delay = 1s, .factor = 1, .jitter = 0.25, .seed = 7};
    const auto first = delays(policy);
    EXPECT_EQ(first, delays(policy));
    bool differ = false;
    for (const duration delay : first) {
        EXPECT_GE(delay, 750ms);
        EXPECT_LE(delay, 1s);
        differ = differ || delay != first.front();
    }
    EXPECT_TRUE(differ);
}

TEST(BackOff, HugeDelaysDoNotOverflow) {
    const auto all =
        delays({.tries_max = 2000, .delay = 1h, .factor = 10, .delay_max = duration::max()});
    for (const duration delay : all) ASSERT_GE(delay, duration::zero());
    EXPECT_EQ(
        delays(
            {.tries_max = 2, .delay = duration::max(), .delay_max = duration::max(), .jitter = 0})
            .front(),
        duration::max());
}

class Retry : public EngineTest {
protected:
    static constexpr retry_policy quick = {.tries_max = 4, .delay = 1ms, .delay_max = 2ms};
    static auto failure() { return ex::just_error(std::make_error_code(std::errc::io_error)); }
};
EDDY_ON_EVERY_ENGINE(Retry);

TEST_P(Retry, TriesAgainUntilItSucceeds) {
    std::vector<std::unique_ptr<manual_event>> events;
    running tries(retry(
        [&] {
            events.push_back(std::make_unique<manual_event>());
            return events.back()->wait();
        },
        quick));
    tries.start_on(loop());
    for (std::size_t i = 0; i != 3; ++i) {
        ASSERT_TRUE(until([&] { return events.size() == i + 1 && events[i]->started(); }));
        loop().post([&, i] {
            if (i == 2) {
                events[i]->value(5);
            } else {
                events[i]->error(std::make_error_code(std::errc::connection_refused));
            }
        });
        settle();
    }
    EXPECT_EQ(tries.how(), ending::value);
    EXPECT_EQ(tries.seen.number, 5);
}

TEST_P(Retry, TheLastErrorIsTheResult) {
    int count = 0;
    running tries(retry(
        [&] {
            ++count;
            return failure();
        },
        quick));
    tries.start_on(loop());
    EXPECT_TRUE(until([&] { return tries.ended(); }));
    EXPECT_EQ(tries.seen.error, std::errc::io_error);
    EXPECT_EQ(count, 4);
}

TEST_P(Retry, AnErrorThatIsNotWorthItEndsIt) {
    int count = 0;
    running tries(retry(
        [&] {
            ++count;
            return failure();
        },
        quick, [](std::error_code error) { return error == std::errc::timed_out; }));
    tries.start_on(loop());
    settle();
    EXPECT_EQ(tries.how(), ending::error);
    EXPECT_EQ(count, 1);
}

TEST_P(Retry, AThrownSystemErrorCountsAsItsCodeAndOtherExceptionsEndIt) {
    int count = 0;
    running tries(retry(
        [&] {
            return ex::just() | ex::then([&] {
                       if (++count == 3) throw std::runtime_error("broken");
                       throw std::system_error(std::make_error_code(std::errc::io_error));
                   });
        },
        quick));
    tries.start_on(loop());
    EXPECT_TRUE(until([&] { return tries.ended(); }));
    EXPECT_EQ(tries.how(), ending::exception);
    EXPECT_EQ(count, 3);
}

TEST_P(Retry, AFactoryOrAPredicateThatThrowsEndsIt) {
    int count = 0;
    running bad_factory(retry(
        [&] {
            if (++count == 2) throw std::runtime_error("broken");
            return failure();
        },
        quick));
    running bad_predicate(retry([] { return failure(); }, quick,
                                [](std::error_code) -> bool { throw std::runtime_error("no"); }));
    bad_factory.start_on(loop());
    bad_predicate.start_on(loop());
    EXPECT_TRUE(until([&] { return bad_factory.ended() && bad_predicate.ended(); }));
    EXPECT_EQ(bad_factory.how(), ending::exception);
    EXPECT_EQ(bad_predicate.how(), ending::exception);
}

TEST_P(Retry, AStopEndsTheDelay) {
    running tries(retry([] { return failure(); }, {.delay = 1h}));
    tries.start_on(loop());
    settle();
    EXPECT_FALSE(tries.ended());
    tries.stop();
    EXPECT_TRUE(until([&] { return tries.ended(); }));
    EXPECT_EQ(tries.how(), ending::stopped);
    EXPECT_EQ(loop().next_deadline(), never);
}

TEST_P(Retry, MayBeDestroyedOnItsLoopDuringADelay) {
    auto tries = std::make_unique<running<decltype(retry(&failure, {.delay = 1h}))>>(
        retry(&failure, {.delay = 1h}));
    tries->start_on(loop());
    settle();
    tries.reset();
    EXPECT_EQ(loop().next_deadline(), never);
}

}  // namespace
}  // namespace eddy::test::retry_test
