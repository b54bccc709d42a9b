// SPDX-License-Identifier: Apache-2.0
#include "allocations.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace eddy::ex_testing::exec_let {

using exception = ex::set_error_t(std::exception_ptr);
constexpr auto quiet = [](int& number) noexcept { return ex::just(number + 1); };
constexpr auto loud = [](int& number) { return ex::just(number + 1); };

static_assert(sends<decltype(ex::just(1) | ex::let_value(quiet)), ex::set_value_t(int)>);
static_assert(sends<decltype(ex::just(1) | ex::let_value(loud)), ex::set_value_t(int), exception>);
static_assert(sends<decltype(ex::just_error(1) | ex::let_error(quiet)), ex::set_value_t(int)>);
static_assert(sends<decltype(ex::just_stopped() |
                             ex::let_stopped([]() noexcept { return ex::just_error(1); })),
                    ex::set_error_t(int)>);
static_assert(sends<decltype(manual_event().wait() |
                             ex::let_value([](int&) noexcept { return ex::just_stopped(); })),
                    ex::set_error_t(std::error_code), ex::set_stopped_t()>);

TEST(ExecLet, GoesOnAsTheSenderThatTheFunctionReturns) {
    EXPECT_EQ(run(ex::just(1) | ex::let_value(loud)).numbers, std::vector{2});
    EXPECT_EQ(run(ex::just_error(5) | ex::let_error(loud)).numbers, std::vector{6});
    EXPECT_EQ(run(ex::just_stopped() | ex::let_stopped([] { return ex::just(3); })).numbers,
              std::vector{3});
    EXPECT_EQ(
        run(ex::just(5) | ex::let_value([](int& error) { return ex::just_error(error); })).channel,
        "error");
}

TEST(ExecLet, OtherChannelsPassUntouched) {
    EXPECT_EQ(run(ex::just_error(7) | ex::let_value([](auto&&...) { return ex::just(); })).numbers,
              std::vector{7});
    EXPECT_EQ(run(ex::just(7) | ex::let_error([](auto&&...) { return ex::just(); })).numbers,
              std::vector{7});
}

TEST(ExecLet, TheValuesLiveUntilTheSecondSenderEnds) {
    manual_event event;
    auto alive = std::make_shared<int>(1);
    std::weak_ptr<int> watch = alive;
    outcome seen;
    {
        auto operation =
            ex::connect(ex::just(std::move(alive)) |
                            ex::let_value([&](std::shared_ptr<int>&) { return event.wait(); }),
                        probe<>{&seen});
        ex::start(operation);
        EXPECT_FALSE(watch.expired());
        event.value(8);
    }
    EXPECT_TRUE(watch.expired());
    EXPECT_EQ(seen.numbers, std::vector{8});
}

TEST(ExecLet, WhatTheFunctionThrowsIsTheError) {
    const auto fail = [](int&) -> decltype(ex::just()) { throw std::runtime_error("no"); };
    EXPECT_THROW(ex::sync_wait(ex::just(1) | ex::let_value(fail)), std::runtime_error);
    EXPECT_EQ(run(ex::just_error(1) | ex::let_error(fail)).channel, "error");
}

TEST(ExecLet, TheSecondSenderSeesTheStopToken) {
    ex::inplace_stop_source source;
    manual_event event;
    outcome seen;
    auto operation = ex::connect(ex::just() | ex::let_value([&] { return event.wait(); }),
                                 probe<stoppable_env>{&seen, {{}, source.get_token()}});
    ex::start(operation);
    EXPECT_EQ(seen.channel, "none");
    source.request_stop();
    EXPECT_EQ(seen.channel, "stopped");
    EXPECT_EQ(seen.completions, 1);
}

TEST(ExecLet, TheSecondSenderKnowsWhereTheFirstCompleted) {
    ex::run_loop loop;
    bool same = false;
    outcome seen;
    auto sender = ex::schedule(loop.get_scheduler()) |
                  ex::let_value([] { return ex::read_env(ex::get_scheduler); }) |
                  ex::then([&](auto scheduler) { same = scheduler == loop.get_scheduler(); });
    auto operation = ex::connect(std::move(sender), probe<>{&seen});
    ex::start(operation);
    loop.finish();
    loop.run();
    EXPECT_EQ(seen.channel, "value");
    EXPECT_TRUE(same);
}

struct twofold {
    using sender_concept = ex::sender_tag;
    bool text;
    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<ex::set_value_t(int), ex::set_value_t(std::string)>{};
    }
    template <class Receiver>
    struct operation {
        using operation_state_concept = ex::operation_state_tag;
        Receiver receiver;
        bool text;
        void start() & noexcept {
            if (text) {
                ex::set_value(std::move(receiver), std::string("four"));
            } else {
                ex::set_value(std::move(receiver), 1);
            }
        }
    };
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const noexcept {
        return operation<Receiver>{std::move(receiver), text};
    }
};

TEST(ExecLet, SeveralWaysToSucceedGiveSeveralSenders) {
    const auto measure = [](auto& value) {
        if constexpr (std::is_same_v<decltype(value), int&>) {
            return ex::just(value);
        } else {
            return ex::just(static_cast<int>(value.size()), 0);
        }
    };
    EXPECT_EQ(run(twofold{false} | ex::let_value(measure)).numbers, std::vector{1});
    EXPECT_EQ(run(twofold{true} | ex::let_value(measure)).numbers, (std::vector{4, 0}));
}

/// Its operation takes this much memory, and counts how many of its kind there are.
template <std::size_t Bytes>
struct large_sender {
    using sender_concept = ex::sender_tag;
    int* alive;
    int* alive_max;

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<ex::set_value_t(int&)>{};
    }
    template <class Receiver>
    struct operation {
        using operation_state_concept = ex::operation_state_tag;
        operation(const large_sender& from, Receiver r) noexcept
            : sender(from), receiver(std::move(r)) {
            *sender.alive_max = std::max(*sender.alive_max, ++*sender.alive);
        }
        operation(operation&&) = delete;
        ~operation() { --*sender.alive; }
        void start() & noexcept { ex::set_value(std::move(receiver), number); }

        large_sender sender;
        Receiver receiver;
        int number = 7;
        std::byte bytes[Bytes];
    };
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const noexcept {
        return operation<Receiver>(*this, std::move(receiver));
    }
};
using large = large_sender<4096>;

TEST(ExecLet, TheTwoOperationsShareTheirMemory) {
    const auto again = [](auto&...) noexcept { return large(); };
    const auto size = []<class Sender>(const Sender&) {
        return sizeof(ex::connect_result_t<Sender, probe<>>);
    };
    EXPECT_LT(size(large() | ex::let_value(again)), 4096U + 200U);
    EXPECT_LT(size(large() | ex::let_value(again) | ex::let_value(again)), 4096U + 400U);
    EXPECT_LT(size(ex::just() | ex::let_value(again)), 4096U + 200U);
    EXPECT_LT(size(ex::just_error(1) | ex::let_error(again)), 4096U + 200U);
    EXPECT_LT(size(ex::just_stopped() | ex::let_stopped(again)), 4096U + 200U);
}

TEST(ExecLet, TheFirstOperationIsGoneBeforeTheFunctionIsCalled) {
    int alive = 0;
    int alive_max = 0;
    int alive_in_call = -1;
    const large first{&alive, &alive_max};
    outcome seen;
    {
        auto operation = ex::connect(first | ex::let_value([&](int& number) {
                                         alive_in_call = alive;
                                         number = number == 7 ? 8 : 0;
                                         return first;
                                     }),
                                     probe<>{&seen});
        ex::start(operation);
        EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(seen.numbers, std::vector{7}) << "of the second operation";
// stdexec calls the function while the first operation still exists.
#if EDDY_EX_BUILTIN
    EXPECT_EQ(alive_in_call, 0);
#endif
    EXPECT_EQ(alive_max, 1);
    EXPECT_EQ(alive, 0);
}

TEST(ExecLet, WhatTheFirstOperationOwnsIsKeptBeforeItIsDestroyed) {
    int alive = 0;
    int alive_max = 0;
    EXPECT_EQ(run(large{&alive, &alive_max} |
                  ex::let_value([](int& number) { return ex::just(number + 1); }))
                  .numbers,
              std::vector{8});
}

TEST(ExecLet, AFunctionThatThrowsLeavesNoOperationBehind) {
    int alive = 0;
    int alive_max = 0;
    const auto fail = [](int&) -> large { throw std::runtime_error("no"); };
    EXPECT_EQ(run(large{&alive, &alive_max} | ex::let_value(fail)).channel, "error");
    EXPECT_EQ(alive, 0);
}

TEST(ExecLet, NothingIsAllocated) {
    outcome seen;
    const auto before = allocations();
    auto operation = ex::connect(ex::just(1.0) | ex::let_value([](double&) { return ex::just(); }),
                                 probe<>{&seen});
    ex::start(operation);
    EXPECT_EQ(allocations(), before);
    EXPECT_EQ(seen.channel, "value");
}

}  // namespace eddy::ex_testing::exec_let
