// SPDX-License-Identifier: Apache-2.0
#include "async/running.hpp"
#include "support/engine_fixture.hpp"

#include <eddy/io/loop_scheduler.hpp>

#include <array>
#include <functional>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace eddy::test::scheduler_test {
namespace {

static_assert(ex::scheduler<loop_scheduler>);
static_assert(ex::scheduler<group_scheduler>);
static_assert(std::is_trivially_copyable_v<loop_scheduler>);

/// It says where its values and its stops arrive; it sends no errors.
template <class Asked>
inline constexpr bool names_no_place_for_errors =
    std::is_invocable_v<ex::get_completion_scheduler_t<ex::set_value_t>, Asked> &&
    std::is_invocable_v<ex::get_completion_scheduler_t<ex::set_stopped_t>, Asked> &&
    !std::is_invocable_v<ex::get_completion_scheduler_t<ex::set_error_t>, Asked>;
static_assert(names_no_place_for_errors<loop_scheduler>);
static_assert(names_no_place_for_errors<group_scheduler>);
static_assert(names_no_place_for_errors<ex::env_of_t<ex::schedule_result_t<loop_scheduler>>>);
static_assert(names_no_place_for_errors<
              ex::env_of_t<decltype(std::declval<loop_scheduler>().schedule_after(duration()))>>);

/// schedule(), schedule_at() and schedule_after(), on each engine.
class Scheduler : public EngineTest {
protected:
    void SetUp() override {
        EngineTest::SetUp();
        if (!IsSkipped()) {
            static_cast<void>(loop());  // other threads may use it
        }
    }
    loop_scheduler home() { return loop().get_scheduler(); }
    /// Each form of sender, of something that is due soon.
    template <class Body>
    void with_each(Body&& body, duration delay = 1ms) {
        {
            SCOPED_TRACE("schedule");
            body(home().schedule());
        }
        {
            SCOPED_TRACE("schedule_at");
            body(home().schedule_at(clock::now() + delay));
        }
        {
            SCOPED_TRACE("schedule_after");
            body(home().schedule_after(delay));
        }
    }
    template <class Running>
    void expect_end(Running& r, ending how) {
        ASSERT_TRUE(until([&] { return r.ended(); }));
        EXPECT_EQ(r.how(), how);
        EXPECT_EQ(r.seen.where, &loop());
        settle();
        EXPECT_EQ(r.seen.completions, 1);
    }
};
EDDY_ON_EVERY_ENGINE(Scheduler);

TEST_P(Scheduler, CompletesOnItsLoopNotInsideStart) {
    with_each([&](auto sender) {
        running r(sender);
        bool inside = true;
        loop().post([&] {
            r.start();
            inside = r.ended();
        });
        expect_end(r, ending::value);
        EXPECT_FALSE(inside);
    });
}

TEST_P(Scheduler, MayBeStartedByAnotherThread) {
    with_each([&](auto sender) {
        running r(sender);
        std::thread other([&] { r.start(); });
        expect_end(r, ending::value);
        other.join();
    });
}

TEST_P(Scheduler, IsStoppedIfThatWasAskedBefore) {
    with_each(
        [&](auto sender) {
            running here(sender);
            here.stop();
            here.start_on(loop());
            expect_end(here, ending::stopped);
        },
        1h);
}

TEST_P(Scheduler, StoppedBeforeAnotherThreadStartsItEndsStopped) {
    with_each(
        [&](auto sender) {
            running r(sender);
            r.stop();
            std::thread([&] { r.start(); }).join();
            ASSERT_TRUE(until([&] { return r.ended(); }));
            EXPECT_EQ(r.how(), ending::stopped);
            EXPECT_EQ(r.seen.completions, 1);
        },
        1h);
}

TEST_P(Scheduler, IsStoppedOnTheLoopsThreadWhileItWaits) {
    with_each(
        [&](auto sender) {
            running r(sender);
            bool inside = true;
            loop().post([&] {
                r.start();
                r.stop();
                inside = r.ended();
            });
            expect_end(r, ending::stopped);
            EXPECT_FALSE(inside);
        },
        1h);
}

TEST_P(Scheduler, IsStoppedByAnotherThreadWhileItWaits) {
    with_each(
        [&](auto sender) {
            running r(sender);
            std::thread other;
            loop().post([&] {
                r.start();
                other = std::thread([&] { r.stop(); });
                while (!r.source.stop_requested()) {
                    std::this_thread::yield();
                }
            });
            expect_end(r, ending::stopped);
            other.join();
        },
        1h);
}

TEST_P(Scheduler, StartedAndStoppedByAnotherThreadEndsStopped) {
    with_each(
        [&](auto sender) {
            running r(sender);
            std::thread([&] {
                r.start();
                r.stop();
            }).join();
            expect_end(r, ending::stopped);
        },
        1h);
}

TEST_P(Scheduler, IsNeverEarly) {
    for (const duration delay : {duration(0), duration(1), duration(100us), duration(3ms)}) {
        const time_point before = clock::now();
        running after(home().schedule_after(delay));
        running at(home().schedule_at(before + delay));
        time_point at_end{};
        loop().post([&] {
            after.start();
            at.start();
        });
        ASSERT_TRUE(until([&] { return after.ended() && at.ended(); }));
        at_end = clock::now();
        EXPECT_GE(at_end - before, delay);
    }
}

TEST_P(Scheduler, TheDelayBeginsAtTheStartNotAtTheConnect) {
    running r(home().schedule_after(20ms));
    running first(home().schedule_after(20ms));
    first.start();
    ASSERT_TRUE(until([&] { return first.ended(); }));
    const time_point before = clock::now();
    r.start();
    ASSERT_TRUE(until([&] { return r.ended(); }));
    EXPECT_GE(clock::now() - before, 20ms);
}

TEST_P(Scheduler, ATimeInThePastIsDueAtOnceAndOneAtTheEndOfTimeNever) {
    running past(home().schedule_at(time_point::min()));
    running negative(home().schedule_after(duration::min()));
    running never_at(home().schedule_at(never));
    running never_after(home().schedule_after(duration::max()));
    loop().post([&] {
        past.start();
        negative.start();
        never_at.start();
        never_after.start();
    });
    ASSERT_TRUE(until([&] { return past.ended() && negative.ended(); }));
    turns_in(2ms);
    EXPECT_FALSE(never_at.ended() || never_after.ended());
    never_at.stop();
    never_after.stop();
    ASSERT_TRUE(until([&] { return never_at.ended() && never_after.ended(); }));
    EXPECT_EQ(never_at.how(), ending::stopped);
}

TEST_P(Scheduler, EndsStoppedIfTheLoopDrains) {
    running waiting(home().schedule_after(1h));
    running elsewhere(home().schedule_after(1h));
    running hop(home().schedule());
    running too_late(home().schedule_after(1ms));
    const auto begin_both = [&] {
        hop.start();
        too_late.start();
    };
    running trigger(ex::upon_stopped(home().schedule_after(1h), begin_both));
    loop().post([&] {
        waiting.start();
        trigger.start();
    });
    std::thread([&] { elsewhere.start(); }).join();
    loop().stop();
    loop().run(run_mode::drained, {.until = clock::now() + patience});
    for (const outcome* seen : {&waiting.seen, &elsewhere.seen, &hop.seen, &too_late.seen}) {
        EXPECT_EQ(seen->how, ending::stopped);
        EXPECT_EQ(seen->completions, 1);
    }
}

TEST_P(Scheduler, EndsStoppedIfTheLoopIsDestroyed) {
    std::vector<std::unique_ptr<running<schedule_sender<loop_scheduler>>>> hops;
    std::vector<std::unique_ptr<running<schedule_at_sender<loop_scheduler>>>> timers;
    for (int i = 0; i < 2; ++i) {
        hops.push_back(
            std::make_unique<running<schedule_sender<loop_scheduler>>>(home().schedule()));
        timers.push_back(std::make_unique<running<schedule_at_sender<loop_scheduler>>>(
            home().schedule_after(1h)));
    }
    timers[0]->start_on(loop());
    settle();
    hops[0]->start();
    std::thread([&] {
        hops[1]->start();
        timers[1]->start();
    }).join();
    end_loop();
    for (const auto& r : hops) {
        EXPECT_EQ(r->how(), ending::stopped);
        EXPECT_EQ(r->seen.completions, 1);
    }
    for (const auto& r : timers) {
        EXPECT_EQ(r->how(), ending::stopped);
        EXPECT_EQ(r->seen.completions, 1);
    }
}

TEST_P(Scheduler, APendingOneMayBeDestroyedOnTheLoopsThread) {
    with_each(
        [&](auto sender) {
            auto here = std::make_unique<running<decltype(sender)>>(sender);
            auto elsewhere = std::make_unique<running<decltype(sender)>>(sender);
            auto stopped = std::make_unique<running<decltype(sender)>>(sender);
            loop().post([&] {
                here->start();
                stopped->start();
                std::thread([&] {
                    elsewhere->start();
                    stopped->stop();
                }).join();
                here.reset();
                elsewhere.reset();
                stopped.reset();
            });
            settle();
            EXPECT_TRUE(loop().empty()) << "nothing of them is left";
        },
        1h);
}

TEST_P(Scheduler, MayBeDestroyedByItsOwnCompletion) {
    struct destroy {
        void operator()(outcome&) { (*function)(); }
        std::function<void()>* function;
    };
    with_each([&](auto sender) {
        using operation = running<decltype(sender), destroy>;
        // The receiver writes into it after the value was taken: what dies is another one.
        std::unique_ptr<operation> second;
        std::function<void()> kill = [&] { second.reset(); };
        std::function<void()> nothing = [] {};
        second = std::make_unique<operation>(sender, destroy{&nothing});
        operation first(sender, destroy{&kill});
        loop().post([&] {
            first.start();
            second->start();
        });
        ASSERT_TRUE(until([&] { return first.ended(); }));
        settle();
        EXPECT_EQ(second, nullptr);
    });
}

TEST_P(Scheduler, SaysWhereItCompletesAndWhatTimeItIs) {
    eddy::loop other({.engine = GetParam()});
    EXPECT_EQ(home(), loop().get_scheduler());
    EXPECT_NE(home(), other.get_scheduler());
    EXPECT_EQ(&home().home(), &loop());
    EXPECT_EQ(ex::get_completion_scheduler<ex::set_value_t>(ex::get_env(home().schedule())),
              home());
    EXPECT_EQ(
        ex::get_completion_scheduler<ex::set_value_t>(ex::get_env(home().schedule_after(1ms))),
        home());
    EXPECT_EQ(ex::get_completion_scheduler<ex::set_stopped_t>(ex::get_env(home().schedule())),
              home());
    EXPECT_EQ(ex::get_forward_progress_guarantee(home()), ex::forward_progress_guarantee::parallel);
    const time_point before = clock::now();
    const time_point now = home().now();
    EXPECT_LE(before, now);
    EXPECT_LE(now, clock::now());
}

TEST_P(Scheduler, OfAGroupUsesOneLoopAfterTheOther) {
    loop_group group({.size = 2, .loop = {.engine = GetParam()}});
    group.start();
    const group_scheduler on = group.get_scheduler();
    EXPECT_EQ(on, group.get_scheduler());
    std::array<running<schedule_sender<group_scheduler>>, 2> hops{running(on.schedule()),
                                                                  running(on.schedule())};
    std::array<running<schedule_at_sender<group_scheduler>>, 2> timers{
        running(on.schedule_after(1ms)), running(on.schedule_after(1ms))};
    for (std::size_t i = 0; i < 2; ++i) {
        hops[i].start();
        timers[i].start();
    }
    const auto all = [&] {
        return hops[0].ended() && hops[1].ended() && timers[0].ended() && timers[1].ended();
    };
    for (const time_point limit = clock::now() + patience; !all() && clock::now() < limit;) {
        std::this_thread::yield();
    }
    group.stop();
    group.join();
    ASSERT_TRUE(all());
    EXPECT_NE(hops[0].seen.where, hops[1].seen.where);
    EXPECT_NE(timers[0].seen.where, timers[1].seen.where);
    for (const auto& hop : hops) {
        EXPECT_TRUE(hop.seen.where == &group.at(0) || hop.seen.where == &group.at(1));
    }
}

}  // namespace
}  // namespace eddy::test::scheduler_test
