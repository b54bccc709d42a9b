// SPDX-License-Identifier: Apache-2.0
#include "async/task_fixture.hpp"
#include "support/counting_allocator.hpp"
#include "support/counting_resource.hpp"

#include <eddy/async/allocator_resource.hpp>
#include <eddy/async/nursery.hpp>
#include <eddy/async/task.hpp>

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <new>

namespace eddy::test::task_memory_test {
namespace {

/// A task's frame, and the environment that it gives, come from the resource of its arguments.
class TaskMemory : public TaskTest {};
EDDY_ON_EVERY_ENGINE(TaskMemory);

task<int> child(std::allocator_arg_t, std::pmr::memory_resource*, int value) {
    co_return co_await ex::just(value);
}
task<int> parent(std::allocator_arg_t, std::pmr::polymorphic_allocator<std::byte> memory,
                 loop_scheduler home) {
    co_await home.schedule();
    auto told = co_await ex::read_env(ex::get_allocator);
    EXPECT_EQ(told.resource(), memory.resource());
    int sum = 0;
    for (int i = 0; i < 3; ++i) {
        sum += co_await child(std::allocator_arg, memory.resource(), i);
    }
    co_return sum;
}

TEST_P(TaskMemory, IsThatOfTheArguments) {
    counting_resource memory;
    EXPECT_EQ(value_of(parent(std::allocator_arg, &memory, loop().get_scheduler())), 3);
    EXPECT_EQ(memory.taken(), 4U) << "one for each frame";
    EXPECT_EQ(memory.in_use(), 0U);
}

TEST_P(TaskMemory, OfMembersAndLambdasIsThatBehindTheObject) {
    counting_resource memory;
    const auto body = [](std::allocator_arg_t, counting_resource*) -> task<int> { co_return 5; };
    EXPECT_EQ(value_of(body(std::allocator_arg, &memory)), 5);
    EXPECT_EQ(memory.taken(), 1U);
    EXPECT_EQ(memory.in_use(), 0U);
}

TEST_P(TaskMemory, ThatIsMissingIsThrownByTheCall) {
    counting_resource memory(0);
    EXPECT_THROW(static_cast<void>(child(std::allocator_arg, &memory, 1)), std::bad_alloc);
}

/// What can be converted to everything, also to std::allocator_arg_t.
struct anything {
    template <class T>
    operator T() const;
};
task<int> third(anything, int, int value) { co_return value; }
task<int> fourth(int, anything, int, int value) { co_return value; }

TEST_P(TaskMemory, IsNotTakenFromWhatOnlyConvertsToTheTag) {
    EXPECT_EQ(value_of(third({}, 1, 2)), 2);
    EXPECT_EQ(value_of(fourth(0, {}, 1, 3)), 3);
}

TEST_P(TaskMemory, OfTheUsualAllocatorIsThatOfOperatorNew) {
    const auto body = [](std::allocator_arg_t, std::allocator<int>) -> task<bool> {
        auto told = co_await ex::read_env(ex::get_allocator);
        co_return told.resource() == std::pmr::new_delete_resource();
    };
    EXPECT_TRUE(value_of(body(std::allocator_arg, std::allocator<int>())));
}

TEST_P(TaskMemory, OfAnyAllocatorComesThroughItsResource) {
    counting_resource memory;
    allocator_resource arena{counting_allocator<int>(memory)};
    EXPECT_EQ(value_of(parent(std::allocator_arg, &arena, loop().get_scheduler())), 3);
    EXPECT_EQ(memory.taken(), 4U);
    EXPECT_EQ(memory.in_use(), 0U);
}

TEST_P(TaskMemory, IsThatOfTheEnvironmentWhereTheFrameIsMadeForIt) {
    counting_resource memory;
    const auto in_arena = [&] {
        auto block = [](nursery& children) -> task<> {
            children.start(ex::just());
            co_await children.join();
        };
        return ex::write_env(with_nursery(block),
                             ex::prop(ex::get_allocator, counting_allocator<std::byte>(memory)));
    };
    EXPECT_TRUE(loop().run(in_arena()));
    EXPECT_EQ(memory.taken(), 3U) << "the nursery, the child and its frame";
    EXPECT_EQ(memory.in_use(), 0U);
}

TEST(AllocatorResource, RoundsUpAndRefusesWhatItCannotAlign) {
    counting_resource memory;
    allocator_resource arena{counting_allocator<char>(memory)};
    void* const odd = arena.allocate(17, 1);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(odd) % __STDCPP_DEFAULT_NEW_ALIGNMENT__, 0U);
    EXPECT_THROW(static_cast<void>(arena.allocate(64, 64)), std::bad_alloc);
    void* const nothing = arena.allocate(0, 1);
    EXPECT_NE(nothing, nullptr);
    EXPECT_EQ(memory.in_use(), 2U);
    arena.deallocate(nothing, 0, 1);
    arena.deallocate(odd, 17, 1);
    EXPECT_EQ(memory.in_use(), 0U);
    EXPECT_FALSE(arena.is_equal(allocator_resource{counting_allocator<char>(memory)}));
}

}  // namespace
}  // namespace eddy::test::task_memory_test
