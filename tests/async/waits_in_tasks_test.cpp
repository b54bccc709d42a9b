// SPDX-License-Identifier: Apache-2.0
#include "support/engine_fixture.hpp"

#include <eddy/async/async.hpp>
#include <eddy/ex/when_all.hpp>
#include <eddy/io/run.hpp>

#include <string>
#include <vector>

namespace eddy::test::waits_in_tasks_test {
namespace {

class WaitsInTasks : public EngineTest {};
EDDY_ON_EVERY_ENGINE(WaitsInTasks);

task<> produce(channel<int>& numbers, int count) {
    for (int i = 1; i <= count; ++i) co_await numbers.send(i);
    numbers.close();
}

task<int> sum(channel<int>& numbers) {
    int total = 0;
    for (;;) {
        const auto number = co_await as_result(numbers.receive());
        if (!number) co_return number.error() == errc::channel_closed ? total : -1;
        total += *number;
    }
}

TEST_P(WaitsInTasks, AChannelBetweenTwoTasks) {
    channel<int> numbers(3);
    auto both = loop().run(ex::when_all(produce(numbers, 1000), sum(numbers)));
    EXPECT_EQ(std::get<0>(both.value()), 500'500);
}

task<> append(async_mutex& mutex, loop_scheduler on, std::vector<int>& log, int id) {
    const auto guard = co_await mutex.lock();
    log.push_back(id);
    co_await on.schedule_after(1ms);
    log.push_back(id);
}

TEST_P(WaitsInTasks, AMutexIsHeldAcrossAWait) {
    async_mutex mutex;
    std::vector<int> log;
    const auto on = loop().get_scheduler();
    loop().run(ex::when_all(append(mutex, on, log, 1), append(mutex, on, log, 2),
                            append(mutex, on, log, 3)));
    EXPECT_EQ(log, (std::vector{1, 1, 2, 2, 3, 3}));
}

task<std::string> first_of(event& quit, loop_scheduler on) {
    co_await timeout(when_any(quit.wait(), on.schedule_after(1h)), 10s);
    co_return "quit";
}

TEST_P(WaitsInTasks, ARaceUnderATimeout) {
    event quit;
    auto setter = [](event& to_set, loop_scheduler on) -> task<> {
        co_await on.schedule_after(1ms);
        to_set.set();
    };
    const auto on = loop().get_scheduler();
    auto both = loop().run(ex::when_all(first_of(quit, on), setter(quit, on)));
    EXPECT_EQ(std::get<0>(both.value()), "quit");
    EXPECT_EQ(loop().next_deadline(), never);
}

task<int> fails(int& count) {
    if (++count < 3) throw std::system_error(std::make_error_code(std::errc::io_error));
    co_return count;
}

TEST_P(WaitsInTasks, ATaskThatThrowsIsTriedAgain) {
    int count = 0;
    auto result = loop().run(retry([&] { return fails(count); }, {.delay = 1ms}));
    EXPECT_EQ(std::get<0>(result.value()), 3);
}

TEST_P(WaitsInTasks, ASuspendedTaskThatIsDestroyedLeavesTheLists) {
    async_mutex mutex;
    semaphore none(0);
    event never_set;
    auto held = mutex.try_lock();
    auto waits = [&]() -> task<> {
        const auto guard = co_await timeout(mutex.lock(), 1h);
        co_await none.acquire();
        co_await never_set.wait();
    };
    struct ignore {
        using receiver_concept = ex::receiver_tag;
        void set_value() noexcept {}
        void set_error(const std::exception_ptr&) noexcept {}
        void set_stopped() noexcept {}
    };
    for (int stage = 0; stage != 3; ++stage) {
        loop().post([&] {
            auto operation = ex::connect(waits(), ignore{});
            ex::start(operation);
            if (stage == 1) held.unlock();
            if (stage == 2) none.release();
        });
        settle();
    }
    EXPECT_EQ(loop().next_deadline(), never);
    EXPECT_TRUE(mutex.try_lock().owns());
    EXPECT_EQ(none.available(), 1U);
}

task<> hold_for_ever(semaphore& permits, loop_scheduler on) {
    const auto permit = co_await permits.hold(2);
    EXPECT_TRUE(permit.owns());
    co_await on.schedule_after(1h);
}

TEST_P(WaitsInTasks, APermitComesBackFromATaskThatIsStopped) {
    semaphore permits(3);
    const auto body = [&]() -> task<> {
        const auto ended =
            co_await as_result(timeout(hold_for_ever(permits, loop().get_scheduler()), 1ms));
        EXPECT_EQ(ended.error(), errc::timed_out);
    };
    loop().run(body());
    EXPECT_EQ(permits.available(), 3U);
}

}  // namespace
}  // namespace eddy::test::waits_in_tasks_test
