// SPDX-License-Identifier: Apache-2.0
#include "async/running.hpp"
#include "support/engine_fixture.hpp"
#include "support/random.hpp"

#include <eddy/async/channel.hpp>

#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace eddy::test::channel_test {
namespace {

class Channel : public EngineTest {};
EDDY_ON_EVERY_ENGINE(Channel);

TEST(ChannelWithoutLoop, KeepsTheOrderAndWaitsWhenItIsFull) {
    channel<int> numbers(2);
    running first(numbers.send(1));
    running second(numbers.send(2));
    running third(numbers.send(3));
    first.start();
    second.start();
    third.start();
    EXPECT_EQ(second.how(), ending::value);
    EXPECT_FALSE(third.ended());
    EXPECT_EQ(numbers.try_receive(), 1);
    EXPECT_EQ(third.how(), ending::value);
    EXPECT_EQ(numbers.try_receive(), 2);
    EXPECT_EQ(numbers.try_receive(), 3);
    EXPECT_EQ(numbers.try_receive(), std::nullopt);
}

TEST(ChannelWithoutLoop, AReceiverThatWaitsIsHandedTheItem) {
    channel<int> numbers(2);
    running receive(numbers.receive());
    receive.start();
    EXPECT_TRUE(numbers.try_send(7));
    EXPECT_EQ(receive.how(), ending::value);
    EXPECT_EQ(receive.seen.number, 7);
    EXPECT_EQ(numbers.size(), 0U);
}

TEST(ChannelWithoutLoop, WithCapacityZeroBothSidesMeet) {
    channel<int> numbers(0);
    EXPECT_FALSE(numbers.try_send(1));
    running send(numbers.send(2));
    send.start();
    EXPECT_FALSE(send.ended());
    EXPECT_EQ(numbers.try_receive(), 2);
    EXPECT_EQ(send.how(), ending::value);
    running receive(numbers.receive());
    receive.start();
    EXPECT_TRUE(numbers.try_send(3));
    EXPECT_EQ(receive.seen.number, 3);
}

TEST(ChannelWithoutLoop, AClosedOneGivesWhatItHasAndThenEnds) {
    channel<int> numbers(1);
    ASSERT_TRUE(numbers.try_send(1));
    running waits(numbers.send(2));
    waits.start();
    numbers.close();
    EXPECT_TRUE(numbers.closed());
    EXPECT_EQ(waits.how(), ending::error);
    EXPECT_EQ(waits.seen.error, errc::channel_closed);
    running late(numbers.send(3));
    late.start();
    EXPECT_EQ(late.seen.error, errc::channel_closed);
    EXPECT_FALSE(numbers.try_send(4));
    running last(numbers.receive());
    last.start();
    EXPECT_EQ(last.seen.number, 1);
    running none(numbers.receive());
    none.start();
    EXPECT_EQ(none.seen.error, errc::channel_closed);
}

TEST(ChannelWithoutLoop, ClosingEndsThoseWhoReceive) {
    channel<int> numbers(1);
    running receive(numbers.receive());
    receive.start();
    numbers.close();
    EXPECT_EQ(receive.seen.error, errc::channel_closed);
}

TEST(ChannelWithoutLoop, AStoppedSendHasNotSent) {
    channel<int> numbers(1);
    ASSERT_TRUE(numbers.try_send(1));
    running send(numbers.send(2));
    running behind(numbers.send(3));
    send.start();
    behind.start();
    send.stop();
    EXPECT_EQ(send.how(), ending::stopped);
    EXPECT_EQ(numbers.try_receive(), 1);
    EXPECT_EQ(numbers.try_receive(), 3);
    EXPECT_EQ(numbers.try_receive(), std::nullopt);
}

TEST(ChannelWithoutLoop, ItemsThatCanOnlyMoveAreKeptIfTheyCannotBeSent) {
    channel<std::unique_ptr<int>> numbers(1);
    auto item = std::make_unique<int>(1);
    EXPECT_TRUE(numbers.try_send(std::move(item)));
    item = std::make_unique<int>(2);
    EXPECT_FALSE(numbers.try_send(std::move(item)));
    EXPECT_EQ(*item, 2);
}

/// Counts what it allocates.
template <class T>
struct counting_allocator {
    using value_type = T;
    int* count;
    explicit counting_allocator(int* c) : count(c) {}
    template <class U>
    counting_allocator(const counting_allocator<U>& other) : count(other.count) {}
    T* allocate(std::size_t n) {
        ++*count;
        return std::allocator<T>().allocate(n);
    }
    void deallocate(T* p, std::size_t n) { std::allocator<T>().deallocate(p, n); }
    template <class U>
    bool operator==(const counting_allocator<U>& other) const {
        return count == other.count;
    }
};

TEST(ChannelWithoutLoop, AllocatesOnceWithItsAllocator) {
    int allocations = 0;
    channel<int, counting_allocator<int>> numbers(3, counting_allocator<int>(&allocations));
    for (int i = 0; i != 100; ++i) {
        ASSERT_TRUE(numbers.try_send(int(i)));
        ASSERT_EQ(numbers.try_receive(), i);
    }
    EXPECT_EQ(allocations, 1);
}

TEST_P(Channel, EachSideGoesOnOnItsLoop) {
    channel<std::string> lines(1);
    std::string got;
    struct keep {
        std::string* to;
        void operator()(outcome&, std::string line) { *to = std::move(line); }
    };
    running receive(lines.receive(), keep{&got});
    receive.start_on(loop());
    settle();
    ASSERT_TRUE(lines.try_send("hello"));
    EXPECT_FALSE(receive.ended());
    EXPECT_TRUE(until([&] { return receive.ended(); }));
    EXPECT_EQ(got, "hello");
    EXPECT_EQ(receive.seen.where, &loop());
}

TEST_P(Channel, AnItemOnItsWayArrivesAlthoughTheReceiverIsStopped) {
    channel<int> numbers(1);
    running receive(numbers.receive());
    receive.start_on(loop());
    settle();
    ASSERT_TRUE(numbers.try_send(5));
    receive.stop();
    EXPECT_TRUE(until([&] { return receive.ended(); }));
    EXPECT_EQ(receive.how(), ending::value);
    EXPECT_EQ(receive.seen.number, 5);
}

TEST_P(Channel, AnItemOnItsWayToAReceiverThatIsDestroyedGoesToTheNextOrBack) {
    channel<int> numbers(2);
    using receive = running<decltype(numbers.receive())>;
    auto first = std::make_unique<receive>(numbers.receive());
    auto second = std::make_unique<receive>(numbers.receive());
    first->start_on(loop());
    second->start_on(loop());
    settle();
    ASSERT_TRUE(numbers.try_send(1));
    first.reset();
    ASSERT_TRUE(numbers.try_send(2));
    EXPECT_EQ(numbers.size(), 1U);
    second.reset();
    EXPECT_EQ(numbers.try_receive(), 1);
    EXPECT_EQ(numbers.try_receive(), 2);
}

/// Two threads send the numbers 1 to `count` each, two receive; half of the tries are stopped. What
/// was sent arrives, once.
void items_survive(engine_kind engine, std::size_t capacity, int count) {
    loop_group group({.size = 2, .loop = {.engine = engine}});
    group.start();
    channel<int> numbers(capacity);
    std::atomic<long> received = 0;
    std::atomic<long> received_count = 0;
    const auto begin = [&](auto& operation, std::mt19937_64& random) {
        if (random() % 4 == 0) {
            operation.start();
        } else {
            operation.start_on(group.at(random() % 2));
        }
        if (random() % 2 == 0) operation.stop();
        while (!operation.ended()) std::this_thread::yield();
    };
    const auto producer = [&](unsigned seed) {
        std::mt19937_64 random(seed);
        for (int i = 1; i <= count;) {
            running send(numbers.send(i));
            begin(send, random);
            if (send.how() == ending::value) ++i;
        }
    };
    const auto consumer = [&](unsigned seed) {
        std::mt19937_64 random(seed);
        for (;;) {
            running receive(numbers.receive());
            begin(receive, random);
            if (receive.how() == ending::error) break;
            if (receive.how() == ending::value) {
                received += receive.seen.number;
                ++received_count;
            }
        }
    };
    std::thread consumers[] = {std::thread(consumer, 1), std::thread(consumer, 2)};
    std::thread producers[] = {std::thread(producer, 3), std::thread(producer, 4)};
    for (auto& thread : producers) thread.join();
    numbers.close();
    for (auto& thread : consumers) thread.join();
    EXPECT_EQ(received_count, 2L * count);
    EXPECT_EQ(received, static_cast<long>(count) * (count + 1));
}

TEST_P(Channel, NoItemIsLostOrDoubledByStops) {
    items_survive(GetParam(), 2, 1000);
    items_survive(GetParam(), 0, 1000);
}

class LongChannel : public EngineTest {};
EDDY_ON_EVERY_ENGINE(LongChannel);
TEST_P(LongChannel, NoItemIsLostOrDoubledByStops) {
    items_survive(GetParam(), 2, static_cast<int>(scaled(20'000)));
    items_survive(GetParam(), 0, static_cast<int>(scaled(20'000)));
}

}  // namespace
}  // namespace eddy::test::channel_test
