// SPDX-License-Identifier: Apache-2.0
// A stop from another thread against the completion of what a scheduler has: one of the two wins.
#include "io/racers.hpp"

#include <eddy/io/loop_scheduler.hpp>

#include <chrono>
#include <optional>
#include <utility>

namespace eddy::test::scheduler_race_test {
namespace {

class schedule_racer : public racer {
public:
    explicit schedule_racer(eddy::loop& home) : on_(home.get_scheduler()) {}
    void check(std::optional<int> result) override {
        EXPECT_EQ(std::exchange(called_, 0), result ? 1 : 0);
    }

protected:
    /// Some are due at once.
    duration delay() {
        ++tries_;
        return std::chrono::microseconds(tries_ % 3 == 0 ? 0 : tries_ * 7 % 60);
    }
    /// A value counts, and is never early.
    auto expect_after(time_point due) {
        return ex::then([this, due]() noexcept {
            ++called_;
            EXPECT_GE(clock::now(), due);
        });
    }
    loop_scheduler on_;

private:
    int tries_ = 0;
    int called_ = 0;
};

struct hops : schedule_racer {
    using schedule_racer::schedule_racer;
    auto prepare() { return on_.schedule() | expect_after(time_point::min()); }
};
struct waits_until : schedule_racer {
    using schedule_racer::schedule_racer;
    auto prepare() {
        const time_point due = clock::now() + delay();
        return on_.schedule_at(due) | expect_after(due);
    }
};
struct waits_for : schedule_racer {
    using schedule_racer::schedule_racer;
    auto prepare() {
        const duration time = delay();
        return on_.schedule_after(time) | expect_after(clock::now() + time);
    }
};

class SchedulerRaceTest : public RequestRaceTest {
protected:
    template <class Racer>
    void race(std::size_t tries) {
        RequestRaceTest::race<Racer>(tries);
        EXPECT_TRUE(loop().empty()) << "nothing of them is left";
    }
};
class SchedulerRace : public SchedulerRaceTest {};
EDDY_ON_EVERY_ENGINE(SchedulerRace);
class LongSchedulerRace : public SchedulerRaceTest {};
EDDY_ON_EVERY_ENGINE(LongSchedulerRace);

EDDY_RACE(SchedulerRace, Schedule, hops)
EDDY_RACE(SchedulerRace, ScheduleAt, waits_until)
EDDY_RACE(SchedulerRace, ScheduleAfter, waits_for)

}  // namespace
}  // namespace eddy::test::scheduler_race_test
