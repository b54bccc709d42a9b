// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace eddy::ex_testing::exec_recv_concepts {

struct number_receiver {
    using receiver_concept = ex::receiver_tag;
    int* number;
    void set_value(int value) noexcept { *number = value; }
    void set_stopped() noexcept { *number = -1; }
};
struct untagged {
    void set_value(int) noexcept {}
};
struct throwing_move {
    using receiver_concept = ex::receiver_tag;
    throwing_move(throwing_move&&) noexcept(false) {}
};

static_assert(ex::receiver<number_receiver>);
static_assert(ex::receiver<const number_receiver&>);
static_assert(!ex::receiver<untagged>);
static_assert(!ex::receiver<throwing_move>);
static_assert(!ex::receiver<int>);

static_assert(ex::receiver_of<number_receiver, ex::completion_signatures<>>);
static_assert(
    ex::receiver_of<number_receiver,
                    ex::completion_signatures<ex::set_value_t(int), ex::set_stopped_t()>>);
static_assert(!ex::receiver_of<number_receiver, ex::completion_signatures<ex::set_value_t()>>);
static_assert(
    !ex::receiver_of<number_receiver, ex::completion_signatures<ex::set_error_t(std::error_code)>>);

TEST(ExecRecv, CompletionFunctionsCallTheMembers) {
    int number = 0;
    ex::set_value(number_receiver{&number}, 3);
    EXPECT_EQ(number, 3);
    ex::set_stopped(number_receiver{&number});
    EXPECT_EQ(number, -1);
}

struct pointer_receiver {
    using receiver_concept = ex::receiver_tag;
    std::unique_ptr<int>* kept;
    void set_value(std::unique_ptr<int> value) noexcept { *kept = std::move(value); }
};

TEST(ExecRecv, ValuesArePassedOnAsTheyAre) {
    std::unique_ptr<int> kept;
    ex::set_value(pointer_receiver{&kept}, std::make_unique<int>(7));
    EXPECT_EQ(*kept, 7);
}

static_assert(noexcept(ex::set_value(std::declval<number_receiver>(), 1)));
static_assert(!std::is_invocable_v<ex::set_value_t, number_receiver, int*>);
static_assert(!std::is_invocable_v<ex::set_error_t, number_receiver, int>);
static_assert(!std::is_invocable_v<ex::set_stopped_t, number_receiver, int>);

/// Would take anything, however it is reached.
struct easy_receiver {
    using receiver_concept = ex::receiver_tag;
    void set_value() const noexcept {}
    void set_error(int) const noexcept {}
    void set_stopped() const noexcept {}
};
template <class Receiver>
inline constexpr bool can_be_completed = std::is_invocable_v<ex::set_value_t, Receiver> ||
                                         std::is_invocable_v<ex::set_error_t, Receiver, int> ||
                                         std::is_invocable_v<ex::set_stopped_t, Receiver>;
static_assert(can_be_completed<easy_receiver>);
static_assert(can_be_completed<easy_receiver&&>);
// stdexec leaves that to the receiver.
#if EDDY_EX_BUILTIN
static_assert(!can_be_completed<easy_receiver&>, "a completion consumes the receiver");
static_assert(!can_be_completed<const easy_receiver&>);
static_assert(!can_be_completed<const easy_receiver>);
#endif

}  // namespace eddy::ex_testing::exec_recv_concepts
