// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <gtest/gtest.h>

#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace eddy::ex_testing::exec_into_variant {

/// Sends a number or nothing.
struct twofold {
    using sender_concept = ex::sender_tag;
    bool with_number;
    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<ex::set_value_t(int), ex::set_value_t()>{};
    }
    template <class Receiver>
    struct operation {
        using operation_state_concept = ex::operation_state_tag;
        Receiver receiver;
        bool with_number;
        void start() & noexcept {
            if (with_number) {
                ex::set_value(std::move(receiver), 7);
            } else {
                ex::set_value(std::move(receiver));
            }
        }
    };
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const noexcept {
        return operation<Receiver>{std::move(receiver), with_number};
    }
};

TEST(ExecIntoVariant, AllWaysToSucceedBecomeOne) {
    const auto number_of = ex::then([](auto&& result) {
        static_assert(std::variant_size_v<std::decay_t<decltype(result)>> == 2);
        const auto* number = std::get_if<std::tuple<int>>(&result);
        return number != nullptr ? std::get<0>(*number) : -1;
    });
    EXPECT_EQ(run(ex::into_variant(twofold{true}) | number_of).numbers, std::vector{7});
    EXPECT_EQ(run(twofold{false} | ex::into_variant() | number_of).numbers, std::vector{-1});
}

TEST(ExecIntoVariant, OtherChannelsPassUntouched) {
    EXPECT_EQ(run(ex::just_stopped() | ex::into_variant()).channel, "stopped");
    EXPECT_EQ(run(ex::just_error(3) | ex::into_variant()).numbers, std::vector{3});
}

}  // namespace eddy::ex_testing::exec_into_variant
