// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"
#include "telltale.hpp"

#include <gtest/gtest.h>

#include <coroutine>
#include <exception>
#include <execution>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace eddy::ex_testing::exec_connect {

struct never {
    using operation_state_concept = ex::operation_state_tag;
    void start() & noexcept {}
};
struct simple_sender {
    using sender_concept = ex::sender_tag;
    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<ex::set_value_t()>{};
    }
    template <class Receiver>
    never connect(Receiver) const noexcept {
        return {};
    }
};

TEST(ExecConnect, GivesWhatTheMemberGives) {
    outcome seen;
    auto operation = ex::connect(simple_sender{}, probe<>{&seen});
    static_assert(std::is_same_v<decltype(operation), never>);
    static_assert(std::is_same_v<ex::connect_result_t<simple_sender, probe<>>, never>);
    ex::start(operation);
    EXPECT_EQ(seen.channel, "none");
}

TEST(ExecConnect, AnLvalueSenderIsConnectedByCopy) {
    const auto sender = ex::just(1) | ex::then([](int number) { return number + 1; });
    EXPECT_EQ(run(sender).numbers, std::vector{2});
    EXPECT_EQ(run(sender).numbers, std::vector{2});
}

TEST(ExecConnect, AnAdaptorConnectsItsChildAsWhatItIsItself) {
    const auto check = [](auto sender) {
        using sender_type = decltype(sender);
        EXPECT_EQ(run(sender).numbers.at(0), 2);
        EXPECT_EQ(run(static_cast<const sender_type&>(sender)).numbers.at(0), 3);
        EXPECT_EQ(run(std::move(sender)).numbers.at(0), 1);
    };
    const auto pass = [](auto&&... all) noexcept { return (0 + ... + all); };
    const auto pass_on = [](auto&... all) noexcept { return ex::just(all...); };
    check(telltale());
    check(telltale() | ex::then(pass));
    check(telltale() | ex::upon_error(pass));
    check(telltale() | ex::upon_stopped(pass));
    check(telltale() | ex::let_value(pass_on));
    check(telltale() | ex::let_error(pass_on));
    check(telltale() | ex::let_stopped(pass_on));
    check(telltale() | ex::into_variant() |
          ex::then([](auto&& all) noexcept { return std::get<0>(std::get<0>(all)); }));
    check(telltale() | ex::unstoppable);
    check(ex::write_env(telltale(), ex::env<>{}));
    check(telltale() | ex::continues_on(ex::inline_scheduler{}));
    check(ex::schedule_from(telltale()));
    check(ex::when_all(telltale(), ex::just()));
    const auto seq = std::execution::seq;
    check(telltale() | ex::bulk_chunked(seq, 2, pass));
    check(telltale() | ex::bulk_unchunked(seq, 2, pass));
// stdexec makes these of other adaptors, and connects the copies of the child that those hold.
#if EDDY_EX_BUILTIN
    check(telltale() | ex::stopped_as_optional() |
          ex::then([](auto&& all) noexcept { return *all; }));
    check(telltale() | ex::stopped_as_error(1));
    check(ex::starts_on(ex::inline_scheduler{}, telltale()));
    check(telltale() | ex::bulk(seq, 2, pass));
    check(ex::when_all_with_variant(telltale(), ex::just()) |
          ex::then([](auto&& all, auto&&) noexcept { return std::get<0>(std::get<0>(all)); }));
#endif
}

// An awaitable is a sender.

struct ready_number {
    int number;
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    int await_resume() const { return number < 0 ? throw std::runtime_error("no") : number; }
};
static_assert(ex::sender<ready_number>);
static_assert(sends<ready_number, ex::set_value_t(int), ex::set_error_t(std::exception_ptr),
                    ex::set_stopped_t()>);

TEST(ExecConnect, AnAwaitableCanBeConnected) {
    EXPECT_EQ(run(ready_number{6}).numbers, std::vector{6});
    EXPECT_EQ(run(ready_number{-1}).channel, "error");
    EXPECT_EQ(
        std::get<0>(ex::sync_wait(ready_number{6} | ex::then([](int number) { return number + 1; }))
                        .value()),
        7);
}

}  // namespace eddy::ex_testing::exec_connect
