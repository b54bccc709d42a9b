// SPDX-License-Identifier: Apache-2.0
#include "allocations.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <variant>

namespace eddy::ex_testing::exec_when_all {

using code = ex::set_error_t(std::error_code);

static_assert(sends<decltype(ex::when_all(ex::just(1), ex::just(2.0, std::string()))),
                    ex::set_value_t(int, double, std::string)>);
static_assert(sends<decltype(ex::when_all(manual_event().wait(), ex::just())), ex::set_value_t(int),
                    code, ex::set_stopped_t()>);
static_assert(sends<decltype(ex::when_all(ex::just_stopped(), ex::just(1))), ex::set_stopped_t()>,
              "no values if one sender has none");

TEST(ExecWhenAll, TheValuesOfAllAreSent) {
    EXPECT_EQ(run(ex::when_all(ex::just(1, 2), ex::just(), ex::just(3))).numbers,
              (std::vector{1, 2, 3}));
    auto [text, pointer] =
        ex::sync_wait(ex::when_all(ex::just(std::string("a")), ex::just(std::make_unique<int>(1))))
            .value();
    EXPECT_EQ(text, "a");
    EXPECT_EQ(*pointer, 1);
}

TEST(ExecWhenAll, CompletesWithTheLastOne) {
    manual_event first;
    manual_event second;
    outcome seen;
    auto operation = ex::connect(ex::when_all(first.wait(), second.wait()), probe<>{&seen});
    ex::start(operation);
    second.value(2);
    EXPECT_EQ(seen.channel, "none");
    first.value(1);
    EXPECT_EQ(seen.numbers, (std::vector{1, 2}));
    EXPECT_EQ(seen.completions, 1);
}

TEST(ExecWhenAll, AnErrorStopsTheOthersAndIsSent) {
    manual_event first;
    manual_event second;
    outcome seen;
    auto operation = ex::connect(ex::when_all(first.wait(), second.wait()), probe<>{&seen});
    ex::start(operation);
    first.error(std::make_error_code(std::errc::timed_out));
    EXPECT_TRUE(second.stop_seen());
    EXPECT_EQ(seen.code, std::errc::timed_out);
    EXPECT_EQ(seen.completions, 1);
}

TEST(ExecWhenAll, AnErrorAfterAStopStillCounts) {
    manual_event first;
    manual_event second;
    second.disobey();
    outcome seen;
    auto operation = ex::connect(ex::when_all(first.wait(), second.wait()), probe<>{&seen});
    ex::start(operation);
    first.stop();
    EXPECT_TRUE(second.stop_seen());
    EXPECT_EQ(seen.channel, "none") << "it waits for those that do not obey";
    second.error(std::make_error_code(std::errc::io_error));
    EXPECT_EQ(seen.code, std::errc::io_error);
}

TEST(ExecWhenAll, TheFirstErrorCounts) {
    manual_event first;
    manual_event second;
    first.disobey();
    outcome seen;
    auto operation = ex::connect(ex::when_all(first.wait(), second.wait()), probe<>{&seen});
    ex::start(operation);
    second.error(std::make_error_code(std::errc::timed_out));
    first.error(std::make_error_code(std::errc::io_error));
    EXPECT_EQ(seen.code, std::errc::timed_out);
}

TEST(ExecWhenAll, AStopFromOutsideStopsAll) {
    ex::inplace_stop_source source;
    manual_event first;
    manual_event second;
    outcome seen;
    auto operation = ex::connect(ex::when_all(first.wait(), second.wait()),
                                 probe<stoppable_env>{&seen, {{}, source.get_token()}});
    ex::start(operation);
    source.request_stop();
    EXPECT_TRUE(first.stop_seen());
    EXPECT_TRUE(second.stop_seen());
    EXPECT_EQ(seen.channel, "stopped");
    EXPECT_EQ(seen.completions, 1);
}

TEST(ExecWhenAll, ChildrenThatObeyAStopFromBeforeTheStartStopIt) {
    ex::inplace_stop_source source;
    source.request_stop();
    manual_event event;
    const auto seen =
        run(ex::when_all(event.wait(), ex::just(1)), stoppable_env{{}, source.get_token()});
    EXPECT_EQ(seen.channel, "stopped");
    EXPECT_FALSE(event.started());
}

// A stop is a wish: stdexec ends with it, whatever the children had to say.
#if EDDY_EX_BUILTIN
TEST(ExecWhenAll, ChildrenAreStartedEvenIfAStopWasRequestedBefore) {
    ex::inplace_stop_source source;
    source.request_stop();
    manual_event event;
    event.disobey();
    outcome seen;
    auto operation = ex::connect(ex::when_all(event.wait(), ex::just(1)),
                                 probe<stoppable_env>{&seen, {{}, source.get_token()}});
    ex::start(operation);
    EXPECT_TRUE(event.started());
    EXPECT_TRUE(event.stop_seen());
    EXPECT_EQ(seen.channel, "none");
    event.value(5);
    EXPECT_EQ(seen.numbers, (std::vector{5, 1}));
    EXPECT_EQ(seen.completions, 1);
}

TEST(ExecWhenAll, TheValuesOfAllAreSentEvenIfAStopCameInTheMeantime) {
    ex::inplace_stop_source source;
    manual_event first;
    manual_event second;
    first.disobey();
    second.disobey();
    outcome seen;
    auto operation = ex::connect(ex::when_all(first.wait(), second.wait()),
                                 probe<stoppable_env>{&seen, {{}, source.get_token()}});
    ex::start(operation);
    first.value(1);
    source.request_stop();
    EXPECT_TRUE(second.stop_seen());
    EXPECT_EQ(seen.channel, "none");
    second.value(2);
    EXPECT_EQ(seen.numbers, (std::vector{1, 2}));
    EXPECT_EQ(seen.completions, 1);
}
#endif

TEST(ExecWhenAll, OneChildThatObeysAStopStopsItWhateverTheOthersDo) {
    ex::inplace_stop_source source;
    manual_event first;
    manual_event second;
    first.disobey();
    outcome seen;
    auto operation = ex::connect(ex::when_all(first.wait(), second.wait()),
                                 probe<stoppable_env>{&seen, {{}, source.get_token()}});
    ex::start(operation);
    source.request_stop();
    first.value(1);
    EXPECT_EQ(seen.channel, "stopped");
    EXPECT_EQ(seen.completions, 1);
}

/// The operation is destroyed by its own completion, inside the stop request.
TEST(ExecWhenAll, MayBeDestroyedByItsCompletionInsideAStopRequest) {
    struct state;
    struct receiver {
        using receiver_concept = ex::receiver_tag;
        std::unique_ptr<state>* owner;
        ex::inplace_stop_token token;
        void set_value(int, int) noexcept {}
        void set_error(std::error_code) noexcept {}
        void set_stopped() noexcept { std::exchange(*owner, nullptr).reset(); }
        stoppable_env get_env() const noexcept { return {{}, token}; }
    };
    using sender = decltype(ex::when_all(manual_event().wait(), manual_event().wait()));
    struct state {
        state(sender s, receiver r) : operation(ex::connect(std::move(s), r)) {}
        ex::connect_result_t<sender, receiver> operation;
    };
    manual_event first;
    manual_event second;
    ex::inplace_stop_source source;
    std::unique_ptr<state> owner;
    owner = std::make_unique<state>(ex::when_all(first.wait(), second.wait()),
                                    receiver{&owner, source.get_token()});
    ex::start(owner->operation);
    source.request_stop();
    EXPECT_EQ(owner, nullptr);
}

TEST(ExecWhenAll, AnExceptionWhileStoringAValueIsAnError) {
    using value = decltype(ex::when_all(ex::just(fragile(9, 1)), ex::just()));
    static_assert(sends<value, ex::set_value_t(fragile), ex::set_error_t(std::exception_ptr)>);
    std::optional<fragile> source(std::in_place, 100, 5);
    auto sender = ex::when_all(ex::just() | ex::then([&]() noexcept -> fragile& {
                                   source->left = 0;
                                   return *source;
                               }),
                               ex::just());
    EXPECT_THROW(ex::sync_wait(std::move(sender)), int);
}

TEST(ExecWhenAll, ChildrenOnOtherThreadsRaceToTheEnd) {
    ex::run_loop loops[2];
    std::thread threads[2];
    for (int i = 0; i < 2; ++i) threads[i] = std::thread([&loops, i] { loops[i].run(); });
    for (int round = 0; round < 500; ++round) {
        auto [first, second] = ex::sync_wait(ex::when_all(ex::schedule(loops[0].get_scheduler()) |
                                                              ex::then([=] { return round; }),
                                                          ex::schedule(loops[1].get_scheduler()) |
                                                              ex::then([=] { return -round; })))
                                   .value();
        ASSERT_EQ(first, round);
        ASSERT_EQ(second, -round);
    }
    for (auto& loop : loops) loop.finish();
    for (auto& thread : threads) thread.join();
}

TEST(ExecWhenAll, AStopRacesTheCompletionsOfTheChildren) {
    ex::run_loop loops[2];
    std::thread threads[2];
    for (int i = 0; i < 2; ++i) threads[i] = std::thread([&loops, i] { loops[i].run(); });
    for (int round = 0; round < 500; ++round) {
        ex::inplace_stop_source source;
        std::atomic<int> ran{0};
        const auto child = [&](ex::run_loop& loop) {
            return ex::schedule(loop.get_scheduler()) | ex::then([&] { ++ran; });
        };
        std::thread stopper([&] { source.request_stop(); });
        const bool whole =
            ex::sync_wait(ex::write_env(ex::when_all(child(loops[0]), child(loops[1])),
                                        ex::prop{ex::get_stop_token, source.get_token()}))
                .has_value();
        const int seen = ran.load();
        stopper.join();
        if (whole) {
            EXPECT_EQ(seen, 2);
        }
        EXPECT_EQ(ran.load(), seen) << "a child ran after the whole had ended";
    }
    for (auto& loop : loops) loop.finish();
    for (auto& thread : threads) thread.join();
}

TEST(ExecWhenAll, NothingIsAllocated) {
    outcome seen;
    const auto before = allocations();
    auto operation = ex::connect(ex::when_all(ex::just(1.0), ex::just(2.0)), probe<>{&seen});
    ex::start(operation);
    EXPECT_EQ(allocations(), before);
    EXPECT_EQ(seen.channel, "value");
}

TEST(ExecWhenAll, WithVariantEachHasItsOwnWays) {
    auto [first, second] =
        ex::sync_wait(ex::when_all_with_variant(ex::just(1), ex::just())).value();
    static_assert(std::is_same_v<decltype(first), std::variant<std::tuple<int>>>);
    static_assert(std::is_same_v<decltype(second), std::variant<std::tuple<>>>);
    EXPECT_EQ(std::get<std::tuple<int>>(first), std::tuple{1});
}

}  // namespace eddy::ex_testing::exec_when_all
