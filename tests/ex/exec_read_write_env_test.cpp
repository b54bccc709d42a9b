#include "support.hpp"

#include <gtest/gtest.h>

namespace eddy::ex_testing::exec_read_write_env {

static_assert(sends_in<decltype(ex::read_env(ex::get_stop_token)), stoppable_env,
                       ex::set_value_t(ex::inplace_stop_token)>);
static_assert(
    sends<decltype(ex::read_env(ex::get_stop_token)), ex::set_value_t(ex::never_stop_token)>);
static_assert(!ex::sender_in<decltype(ex::read_env(ex::get_stop_token))>);

TEST(ExecReadEnv, TheAnswerOfTheReceiversEnvironmentIsSent) {
    ex::inplace_stop_source source;
    bool equal = false;
    run(ex::read_env(ex::get_stop_token) |
            ex::then([&](auto token) { equal = token == source.get_token(); }),
        stoppable_env{{}, source.get_token()});
    EXPECT_TRUE(equal);
}

struct get_number_t {
    static constexpr bool query(ex::forwarding_query_t) noexcept { return true; }
    template <class Env>
    auto operator()(const Env& env) const noexcept -> decltype(env.query(*this)) {
        return env.query(*this);
    }
};
inline constexpr get_number_t get_number{};

TEST(ExecWriteEnv, TheGivenEnvironmentAnswersFirst) {
    const auto read = ex::read_env(get_number);
    const ex::prop outer{get_number, 1};
    EXPECT_EQ(run(read, outer).numbers, std::vector{1});
    EXPECT_EQ(run(ex::write_env(read, ex::prop{get_number, 2}), outer).numbers, std::vector{2});
    EXPECT_EQ(run(read | ex::write_env(ex::prop{get_number, 3}), outer).numbers, std::vector{3});
}

TEST(ExecWriteEnv, TheReceiversEnvironmentAnswersTheRest) {
    ex::inplace_stop_source source;
    const auto sender =
        ex::write_env(ex::read_env(get_number), ex::prop{ex::get_stop_token, source.get_token()});
    EXPECT_EQ(run(sender, ex::prop{get_number, 5}).numbers, std::vector{5});
}

}  // namespace eddy::ex_testing::exec_read_write_env
