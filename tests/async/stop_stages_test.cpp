// SPDX-License-Identifier: Apache-2.0
// A request to stop, at each stage of everything that waits.
#include "async/stop_stages.hpp"

#include <eddy/async/async.hpp>

#include <utility>

namespace eddy::test::stop_stages_test {
namespace {

class AsyncStopStages : public StopStagesTest {
protected:
    /// An event that is set, and reset after each try.
    stop_case when_set() {
        return {.happen = [this] { happened_.set(); },
                .check = [this](bool, bool) { happened_.reset(); }};
    }
    stop_case when_set_on_a_loop() {
        stop_case about = when_set();
        about.needs_loop = true;
        return about;
    }
    event happened_;
};
EDDY_ON_EVERY_ENGINE(AsyncStopStages);

TEST_P(AsyncStopStages, OfWaits) {
    stop_in_each_stage("event", [&] { return happened_.wait(); }, when_set());

    async_mutex mutex;
    auto guard = mutex.try_lock();
    stop_in_each_stage("lock", [&] { return mutex.lock(); },
                       {.happen = [&] { guard.unlock(); },
                        .check =
                            [&](bool happened, bool) {
                                if (happened) guard = mutex.try_lock();
                                EXPECT_TRUE(guard.owns()) << "the lock is lost";
                            }});
    semaphore permits(0);
    stop_in_each_stage("acquire", [&] { return permits.acquire(2); },
                       {.happen = [&] { permits.release(2); },
                        .check =
                            [&](bool happened, bool got) {
                                EXPECT_EQ(permits.try_acquire(2), happened && !got)
                                    << "permits are lost, or there twice";
                            }});
}

TEST_P(AsyncStopStages, OfChannels) {
    channel<int> numbers(0);
    bool passed = false;
    const auto all_or_nothing = [&](bool, bool got) {
        EXPECT_EQ(got, std::exchange(passed, false)) << "an item is lost, or there twice";
    };
    stop_in_each_stage(
        "send", [&] { return numbers.send(1); },
        {.happen = [&] { passed = numbers.try_receive().has_value(); }, .check = all_or_nothing});
    stop_in_each_stage("receive", [&] { return numbers.receive(); },
                       {.happen = [&] { passed = numbers.try_send(7); }, .check = all_or_nothing});
}

TEST_P(AsyncStopStages, OfWhatHasATime) {
    stop_in_each_stage(
        "timeout", [&] { return timeout(happened_.wait(), 1h); }, when_set_on_a_loop());
    rate_limiter limiter({.tokens = 1, .per = 1h, .burst = 1});
    ASSERT_TRUE(limiter.try_acquire());
    stop_in_each_stage("rate_limiter", [&] { return limiter.acquire(); }, {.needs_loop = true});
    const auto fails = [] { return ex::just_error(std::make_error_code(std::errc::io_error)); };
    stop_in_each_stage("retry, in a delay", [&] { return retry(fails, {.delay = 1h}); },
                       {.needs_loop = true});
    stop_in_each_stage(
        "retry, in a try", [&] { return retry([&] { return happened_.wait(); }); },
        when_set_on_a_loop());
}

TEST_P(AsyncStopStages, OfAdaptors) {
    event never_set;
    stop_in_each_stage(
        "when_any", [&] { return when_any(happened_.wait(), never_set.wait()); }, when_set());
    stop_in_each_stage(
        "repeat_until",
        [&] {
            return repeat_until([&] { return happened_.wait() | ex::then([] { return true; }); });
        },
        when_set());
    bool cleaned = false;
    stop_case clean = when_set();
    clean.check = [&](bool, bool) {
        EXPECT_TRUE(cleaned);
        happened_.reset();
        cleaned = false;
    };
    stop_in_each_stage(
        "finally",
        [&] { return finally(happened_.wait(), ex::just() | ex::then([&] { cleaned = true; })); },
        clean);
    stop_in_each_stage("as_result", [&] { return as_result(happened_.wait()); }, when_set());
}

task<> waits(event& until) { co_await until.wait(); }
task<> has_a_child_that_waits(event& until) {
    co_await with_nursery([&](nursery& children) -> task<> {
        children.start(waits(until));
        co_await children.join();
    });
}
task<> waits_in_a_nursery(event& until) {
    co_await with_nursery([&](nursery&) -> task<> { co_await until.wait(); });
}

TEST_P(AsyncStopStages, OfTasks) {
    stop_in_each_stage("task", [&] { return waits(happened_); }, when_set_on_a_loop());
    stop_in_each_stage(
        "block of a nursery", [&] { return waits_in_a_nursery(happened_); }, when_set_on_a_loop());
    stop_in_each_stage(
        "child of a nursery", [&] { return has_a_child_that_waits(happened_); },
        when_set_on_a_loop());
}

}  // namespace
}  // namespace eddy::test::stop_stages_test
