// SPDX-License-Identifier: Apache-2.0
// A suspended task may be destroyed on its loop's thread, whatever it waits for.
#include "async/running.hpp"
#include "async/task_fixture.hpp"

#include <eddy/async/event.hpp>
#include <eddy/async/nursery.hpp>
#include <eddy/async/task.hpp>
#include <eddy/io/io_sender.hpp>

#include <memory>
#include <string>
#include <thread>

namespace eddy::test::task_destroy_test {
namespace {

class TaskDestruction : public TaskTest {
protected:
    /// Starts it, lets the loop run as long as it has something to do, and destroys it.
    void destroy_suspended(task<> what) {
        auto r = std::make_unique<running<task<>>>(std::move(what));
        r->start_on(loop());
        settle();
        ASSERT_FALSE(r->ended());
        loop().post([&] { r.reset(); });
        settle();
        ASSERT_EQ(r, nullptr);
        EXPECT_TRUE(loop().empty()) << "it has left something behind";
        EXPECT_EQ(left_, 1);
    }
    auto leave() {
        return std::make_unique<at_exit>([this] { ++left_; });
    }
    int left_ = 0;
};
EDDY_ON_EVERY_ENGINE(TaskDestruction);

TEST_P(TaskDestruction, WhileItReads) {
    fd_pair pair = unix_stream_pair();
    const descriptor reader = attach(std::move(pair.first));
    std::string buffer(16, '.');
    const auto body = [&]() -> task<> {
        const auto exit = leave();
        co_await io_sender<as_count>(&loop(), recv(reader, bytes(buffer)));
    };
    destroy_suspended(body());
    test::send_all(pair.second.get(), "late");
    settle();
    turns_in(1ms);
    EXPECT_EQ(buffer, std::string(16, '.'));
    EXPECT_EQ(bytes_waiting(reader.native_handle()), 4U);
}

TEST_P(TaskDestruction, WhileAChildOfItReads) {
    fd_pair pair = unix_stream_pair();
    const descriptor reader = attach(std::move(pair.first));
    std::string buffer(16, '.');
    const auto child = [&]() -> task<std::size_t> {
        co_return co_await io_sender<as_count>(&loop(), recv(reader, bytes(buffer)));
    };
    const auto body = [&]() -> task<> {
        const auto exit = leave();
        co_await child();
    };
    destroy_suspended(body());
    test::send_all(pair.second.get(), "late");
    settle();
    EXPECT_EQ(buffer, std::string(16, '.'));
}

TEST_P(TaskDestruction, WhileItWaitsForATime) {
    const auto body = [&]() -> task<> {
        const auto exit = leave();
        co_await loop().get_scheduler().schedule_after(1h);
    };
    destroy_suspended(body());
}

TEST_P(TaskDestruction, WhileItIsScheduled) {
    const auto body = [&]() -> task<> {
        const auto exit = leave();
        co_await loop().get_scheduler().schedule();
    };
    auto r = std::make_unique<running<task<>>>(body());
    loop().post([&] {
        r->start();
        r.reset();
    });
    settle();
    EXPECT_EQ(left_, 1);
    EXPECT_TRUE(loop().empty());
}

TEST_P(TaskDestruction, WhileItIsOnItsWayHome) {
    const auto body = [&]() -> task<> {
        const auto exit = leave();
        std::thread where;
        const at_exit join([&] { where.join(); });
        static_cast<void>(co_await on_a_thread{&where, 1});
        ADD_FAILURE() << "it must not go on";
    };
    auto r = std::make_unique<running<task<>>>(body());
    std::uint64_t posts = 0;
    loop().post([&] {
        const std::uint64_t before = loop().counters().posts;
        r->start();
        // Looks into the inbox, until the other thread has completed it.
        for (const time_point limit = clock::now() + patience;
             loop().counters().posts == before && clock::now() < limit;) {
            loop().for_each_live([](const live_operation&) {});
        }
        posts = loop().counters().posts - before;
        r.reset();
    });
    settle();
    EXPECT_EQ(posts, 1U);
    EXPECT_EQ(left_, 1);
    EXPECT_TRUE(loop().empty());
}

TEST_P(TaskDestruction, BeforeItWasStartedOrAfterItHasEnded) {
    const auto body = [&]() -> task<> {
        const auto exit = leave();
        co_return;
    };
    { running<task<>> never(body()); }
    EXPECT_EQ(left_, 0);
    {
        running<task<>> r(body());
        r.start_on(loop());
        settle();
        EXPECT_EQ(r.how(), ending::value);
    }
    EXPECT_EQ(left_, 1);
}

TEST_P(TaskDestruction, InANurseryWithItsChildren) {
    fd_pair pair = unix_stream_pair();
    const descriptor reader = attach(std::move(pair.first));
    std::string buffer(16, '.');
    const auto child = [&]() -> task<> {
        co_await io_sender<as_count>(&loop(), recv(reader, bytes(buffer)));
    };
    const auto body = [&]() -> task<> {
        const auto exit = leave();
        co_await with_nursery([&](nursery& children) -> task<> {
            children.start(child());
            children.start(child());
            co_await loop().get_scheduler().schedule_after(1h);
        });
    };
    destroy_suspended(body());
    test::send_all(pair.second.get(), "late");
    settle();
    EXPECT_EQ(buffer, std::string(16, '.'));
}

}  // namespace
}  // namespace eddy::test::task_destroy_test
