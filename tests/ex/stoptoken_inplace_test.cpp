// SPDX-License-Identifier: Apache-2.0
#include "allocations.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace eddy::ex_testing::stoptoken_inplace {

static_assert(ex::stoppable_token<ex::inplace_stop_token>);
static_assert(!ex::unstoppable_token<ex::inplace_stop_token>);
static_assert(!ex::stoppable_token<int>);
static_assert(std::is_same_v<ex::stop_callback_for_t<ex::inplace_stop_token, void (*)()>,
                             ex::inplace_stop_callback<void (*)()>>);

template <class Function>
using callback = ex::inplace_stop_callback<Function>;

TEST(StoptokenInplace, TheRequestIsSeenAndOnlyTheFirstMakesIt) {
    ex::inplace_stop_source source;
    const auto token = source.get_token();
    EXPECT_TRUE(token.stop_possible());
    EXPECT_FALSE(token.stop_requested());
    EXPECT_TRUE(source.request_stop());
    EXPECT_TRUE(token.stop_requested());
    EXPECT_FALSE(source.request_stop());
}

TEST(StoptokenInplace, ATokenOfNothingNeverStops) {
    const ex::inplace_stop_token token;
    EXPECT_FALSE(token.stop_possible());
    EXPECT_FALSE(token.stop_requested());
    ex::inplace_stop_source source;
    EXPECT_NE(token, source.get_token());
    int calls = 0;
    const auto count = [&] { ++calls; };
    callback<decltype(count)> registered(token, count);
    EXPECT_EQ(calls, 0);
}

TEST(StoptokenInplace, CallbacksRunOnceAndNotAfterTheirEnd) {
    ex::inplace_stop_source source;
    int first = 0;
    int second = 0;
    const auto count_first = [&] { ++first; };
    const auto count_second = [&] { ++second; };
    callback<decltype(count_first)> kept(source.get_token(), count_first);
    { callback<decltype(count_second)> gone(source.get_token(), count_second); }
    source.request_stop();
    source.request_stop();
    EXPECT_EQ(first, 1);
    EXPECT_EQ(second, 0);
}

TEST(StoptokenInplace, AfterTheRequestACallbackRunsInItsConstruction) {
    ex::inplace_stop_source source;
    source.request_stop();
    int calls = 0;
    const auto count = [&] { ++calls; };
    callback<decltype(count)> late(source.get_token(), count);
    EXPECT_EQ(calls, 1);
}

TEST(StoptokenInplace, ACallbackMayDestroyItselfAndOthers) {
    ex::inplace_stop_source source;
    struct drop {
        std::unique_ptr<int>* watched;
        void* slot;
        void operator()() noexcept {
            static_cast<std::optional<callback<drop>>*>(slot)->reset();
            watched->reset();
        }
    };
    auto watched = std::make_unique<int>(1);
    std::optional<callback<drop>> first;
    std::optional<callback<drop>> second;
    first.emplace(source.get_token(), drop{&watched, &first});
    source.request_stop();
    EXPECT_FALSE(first.has_value());
    EXPECT_EQ(watched, nullptr);

    ex::inplace_stop_source other;
    watched = std::make_unique<int>(1);
    // The later one is called first, or the earlier one: each ends the other.
    first.emplace(other.get_token(), drop{&watched, &second});
    second.emplace(other.get_token(), drop{&watched, &first});
    other.request_stop();
    EXPECT_NE(first.has_value(), second.has_value());
}

TEST(StoptokenInplace, NothingIsAllocated) {
    const auto before = allocations();
    ex::inplace_stop_source source;
    int calls = 0;
    const auto count = [&] { ++calls; };
    callback<decltype(count)> registered(source.get_token(), count);
    source.request_stop();
    EXPECT_EQ(allocations(), before);
    EXPECT_EQ(calls, 1);
}

TEST(StoptokenInplace, TheEndOfACallbackWaitsUntilItHasReturnedElsewhere) {
    ex::inplace_stop_source source;
    std::atomic<bool> inside{false};
    std::atomic<bool> leave{false};
    bool left = false;  // not atomic: the end of the callback orders it
    const auto linger = [&] {
        inside = true;
        inside.notify_all();
        leave.wait(false);
        left = true;
    };
    std::optional<callback<decltype(linger)>> registered;
    registered.emplace(source.get_token(), linger);
    std::thread requester([&] { source.request_stop(); });
    inside.wait(false);
    std::thread releaser([&] {
        leave = true;
        leave.notify_all();
    });
    registered.reset();
    EXPECT_TRUE(left);
    requester.join();
    releaser.join();
}

TEST(StoptokenInplace, RegistrationRacesTheRequest) {
    constexpr int rounds = 2000;
    for (int round = 0; round < rounds; ++round) {
        ex::inplace_stop_source source;
        std::atomic<int> calls{0};
        const auto count = [&] { calls.fetch_add(1, std::memory_order_relaxed); };
        std::thread requester([&] { source.request_stop(); });
        {
            callback<decltype(count)> first(source.get_token(), count);
            callback<decltype(count)> second(source.get_token(), count);
        }
        const int seen = calls.load();
        EXPECT_LE(seen, 2);
        requester.join();
        EXPECT_EQ(calls.load(), seen) << "one ran after its end";
    }
}

TEST(StoptokenInplace, ManyThreadsRegisterWhileOneRequests) {
    constexpr int rounds = 30;
    constexpr int threads = 4;
    for (int round = 0; round < rounds; ++round) {
        ex::inplace_stop_source source;
        std::atomic<int> alive_calls{0};
        std::thread workers[threads];
        for (auto& worker : workers) {
            worker = std::thread([&] {
                for (bool done = false; !done;) {
                    done = source.stop_requested();
                    bool alive = true;  // written after the end: a late call would be a race
                    const auto note = [&] {
                        if (alive) alive_calls.fetch_add(1, std::memory_order_relaxed);
                    };
                    { callback<decltype(note)> registered(source.get_token(), note); }
                    alive = false;
                }
            });
        }
        EXPECT_TRUE(source.request_stop());
        for (auto& worker : workers) worker.join();
        EXPECT_GE(alive_calls.load(), threads) << "the last one of each ran in its construction";
    }
}

}  // namespace eddy::ex_testing::stoptoken_inplace
