// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace eddy::ex_testing::exec_adapt_obj {

constexpr auto quiet = [](int number) noexcept { return number + 1; };

TEST(ExecAdaptObj, ClosuresComposeBeforeTheyMeetASender) {
    const auto both = ex::then(quiet) | ex::then([](int number) { return 2 * number; });
    EXPECT_EQ(run(ex::just(1) | both).numbers, std::vector{4});
    EXPECT_EQ(run(ex::just(2) | both | ex::then(quiet)).numbers, std::vector{7});
}

struct doubling : ex::sender_adaptor_closure<doubling> {
    template <ex::sender Sender>
    auto operator()(Sender&& sender) const {
        return ex::then(std::forward<Sender>(sender), [](int number) { return 2 * number; });
    }
};

TEST(ExecAdaptObj, UsersWriteTheirOwn) {
    EXPECT_EQ(run(ex::just(4) | doubling{}).numbers, std::vector{8});
    EXPECT_EQ(run(ex::just(4) | (doubling{} | doubling{})).numbers, std::vector{16});
}

}  // namespace eddy::ex_testing::exec_adapt_obj
