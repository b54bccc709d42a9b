#include "support.hpp"

#include <gtest/gtest.h>

#include <coroutine>
#include <exception>
#include <stdexcept>
#include <tuple>
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
