// SPDX-License-Identifier: Apache-2.0
#include "joiner.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace eddy::ex_testing::exec_spawn {

TEST(ExecSpawn, TheWorkRunsAndTheScopeWaitsForIt) {
    ex::simple_counting_scope scope;
    manual_event event;
    int result = 0;
    ex::spawn(event.wait() | ex::then([&](int number) noexcept { result = number; }) |
                  ex::upon_error([](std::error_code) noexcept {}),
              scope.get_token());
    EXPECT_TRUE(event.started());
    joiner join(scope);
    EXPECT_FALSE(join.joined);
    event.value(3);
    EXPECT_EQ(result, 3);
    EXPECT_TRUE(join.joined);
}

TEST(ExecSpawn, AClosedScopeRunsNothing) {
    ex::simple_counting_scope scope;
    scope.close();
    bool ran = false;
    ex::spawn(ex::just() | ex::then([&]() noexcept { ran = true; }), scope.get_token());
    EXPECT_FALSE(ran);
}

TEST(ExecSpawn, AScopeStopsItsWork) {
    ex::counting_scope scope;
    manual_event event;
    ex::spawn(event.wait() | ex::then([](int) noexcept {}) |
                  ex::upon_error([](std::error_code) noexcept {}),
              scope.get_token());
    joiner join(scope);
    scope.request_stop();
    EXPECT_TRUE(event.stop_seen());
    EXPECT_TRUE(join.joined);
}

/// Counts what it gives.
template <class T>
struct counting_allocator {
    using value_type = T;
    int* alive;

    explicit counting_allocator(int* counter) noexcept : alive(counter) {}
    template <class U>
    counting_allocator(const counting_allocator<U>& other) noexcept : alive(other.alive) {}
    T* allocate(std::size_t count) {
        ++*alive;
        return std::allocator<T>().allocate(count);
    }
    void deallocate(T* memory, std::size_t count) noexcept {
        --*alive;
        std::allocator<T>().deallocate(memory, count);
    }
    bool operator==(const counting_allocator&) const = default;
};

TEST(ExecSpawn, UsesTheAllocatorOfTheEnvironment) {
    ex::simple_counting_scope scope;
    manual_event event;
    int alive = 0;
    bool same = false;
    ex::spawn(ex::read_env(ex::get_allocator) |
                  ex::then([&](auto allocator) noexcept { same = allocator.alive == &alive; }) |
                  ex::let_value([&]() noexcept { return event.wait(); }) |
                  ex::then([](int) noexcept {}) | ex::upon_error([](auto&&) noexcept {}),
              scope.get_token(), ex::prop{ex::get_allocator, counting_allocator<int>(&alive)});
    EXPECT_EQ(alive, 1);
    EXPECT_TRUE(same);
    event.value(1);
    EXPECT_EQ(alive, 0);
    joiner join(scope);
    EXPECT_TRUE(join.joined);
}

}  // namespace eddy::ex_testing::exec_spawn
