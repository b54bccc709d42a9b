// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <gtest/gtest.h>

#include <string>

namespace eddy::ex_testing::exec_read_env {

// stdexec copies stop tokens.
#if EDDY_EX_BUILTIN
using stoppable_answer = const ex::inplace_stop_token&;
#else
using stoppable_answer = ex::inplace_stop_token;
#endif
static_assert(sends_in<decltype(ex::read_env(ex::get_stop_token)), stoppable_env,
                       ex::set_value_t(stoppable_answer)>);
static_assert(
    sends<decltype(ex::read_env(ex::get_stop_token)), ex::set_value_t(ex::never_stop_token)>);
static_assert(!ex::sender_in<decltype(ex::read_env(ex::get_stop_token))>);

struct get_text_t {
    template <class Env>
    auto operator()(const Env& env) const noexcept -> decltype(env.query(*this)) {
        return env.query(*this);
    }
};
inline constexpr get_text_t get_text{};

TEST(ExecReadEnv, TheAnswerOfTheReceiversEnvironmentIsSent) {
    ex::inplace_stop_source source;
    bool equal = false;
    run(ex::read_env(ex::get_stop_token) |
            ex::then([&](auto token) { equal = token == source.get_token(); }),
        stoppable_env{{}, source.get_token()});
    EXPECT_TRUE(equal);
}

/// Its environment is made for each question, and the answer is a part of it.
struct passing_receiver {
    using receiver_concept = ex::receiver_tag;
    std::string* seen;
    void set_value(const std::string& text) noexcept { *seen = text; }
    auto get_env() const noexcept {
        return ex::prop{get_text, std::string("an answer that is too long to be kept in place")};
    }
};

TEST(ExecReadEnv, AnAnswerThatIsPartOfAPassingEnvironmentIsStillThere) {
    std::string seen;
    auto operation = ex::connect(ex::read_env(get_text), passing_receiver{&seen});
    ex::start(operation);
    EXPECT_EQ(seen, "an answer that is too long to be kept in place");
}

}  // namespace eddy::ex_testing::exec_read_env
