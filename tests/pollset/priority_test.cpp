// SPDX-License-Identifier: Apache-2.0
// Priorities of handles with real events of the kernel.
#include "support/pollset_fixture.hpp"
#include "support/random.hpp"

#include <eddy/pollset/pollset_set.hpp>
#include <eddy/pollset/pollset_timer.hpp>
#include <eddy/pollset/pollset_watch.hpp>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace eddy::test::priority_test {
namespace {

constexpr priority_level urgent_priority = 3;
constexpr priority_level low_priority = 50;

/// The timerfds of this process.
std::set<int> timerfds() {
    std::set<int> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        if (std::filesystem::read_symlink(entry, gone) == "anon_inode:[timerfd]") {
            found.insert(std::stoi(entry.path().filename()));
        }
    }
    return found;
}

class PollsetPriority : public PollsetTest {
protected:
    void SetUp() override {
        PollsetTest::SetUp();
        timerfds_before_ = timerfds();
    }

    /// A timer with a priority. Its time is written into the list of the test, like an event.
    class alarm final : public closure {
    public:
        alarm(PollsetPriority& test, pollset& set, priority_level priority)
            : closure([](closure& self, std::error_code error) {
                  auto& me = static_cast<alarm&>(self);
                  EXPECT_FALSE(error);
                  me.test_.order_.push_back(me.priority_);
                  ++me.test_.alarms_;
              }),
              test_(test),
              priority_(priority),
              timer_(set, *this, priority) {}
        void set_now() { EXPECT_FALSE(timer_.set_at(clock::now())); }

    private:
        PollsetPriority& test_;
        priority_level priority_;
        pollset_timer timer_;
    };

    /// The kernel knows that the time of a timer has come.
    bool some_alarm_is_due() const {
        const std::set<int> all = timerfds();
        const auto ours = std::find_if(all.begin(), all.end(),
                                       [this](int fd) { return !timerfds_before_.contains(fd); });
        return ours != all.end() && becomes_ready(*ours, POLLIN);
    }

    /// An eventfd with a priority. Each event of it is written into the list of the test.
    class source final : public closure {
    public:
        source(PollsetPriority& test, poll_domain& domain, priority_level priority)
            : closure([](closure& self, std::error_code error) {
                  if (!error) {
                      static_cast<source&>(self).happened();
                  }
              }),
              test_(test),
              priority_(priority),
              handle_(domain, make_eventfd(), {.priority = priority}),
              fd_(handle_->fd()) {
            arm();
        }
        poll_handle& handle() { return *handle_; }
        void arm() { EXPECT_FALSE(handle_->notify_on_read(*this)); }
        void fire() const {
            const std::uint64_t one = 1;
            EXPECT_EQ(::write(fd_, &one, sizeof one), ssize_t{sizeof one});
        }

    private:
        void happened() {
            std::uint64_t count = 0;
            EXPECT_EQ(::read(fd_, &count, sizeof count), ssize_t{sizeof count});
            if (test_.order_.empty()) {
                test_.events_at_first_ = test_.set_domain().counters().events;
            }
            test_.order_.push_back(priority_);
            test_.served_ = test_.order_.size();
        }

        PollsetPriority& test_;
        priority_level priority_;
        held_handle handle_;
        int fd_;
    };

    source& add_source(pollset& set, priority_level priority) {
        source& made = sources_.emplace_back(*this, set_domain(), priority);
        EXPECT_FALSE(set.add(made.handle()));
        return made;
    }
    poll_domain& set_domain() { return other_domain_ ? *other_domain_ : domain(); }
    void TearDown() override {
        sources_.clear();
        other_domain_.reset();
        PollsetTest::TearDown();
    }

    std::optional<poll_domain> other_domain_;  ///< instead of domain(), if there is one
    std::set<int> timerfds_before_;
    std::size_t alarms_ = 0;  ///< that were called
    std::deque<source> sources_;
    /// Events that the kernel had told when the first of the list was served.
    std::uint64_t events_at_first_ = 0;
    /// Of the events that were served, by one thread at a time.
    std::vector<priority_level> order_;
    std::atomic<std::size_t> served_{0};  ///< the size of that, for other threads
};
EDDY_WITH_EVERY_STRATEGY(PollsetPriority);

TEST_P(PollsetPriority, EventsThatAreThereTogetherAreServedInTheOrderOfPriorities) {
    constexpr std::size_t count = 500;
    random_numbers random;
    pollset set(domain());
    for (std::size_t i = 0; i != count; ++i) {
        add_source(set, static_cast<priority_level>(random.below(priority_count)));
    }
    for (int round = 0; round != 3; ++round) {
        settle(set);
        order_.clear();
        for (source& s : sources_) {
            s.fire();
        }
        ASSERT_TRUE(until(set, [&] { return order_.size() == count; }));
        EXPECT_TRUE(std::is_sorted(order_.begin(), order_.end())) << "round " << round;
        for (source& s : sources_) {
            s.arm();
        }
    }
}

TEST_P(PollsetPriority, TimersAndEventsDueTogetherAreServedInOneOrderOfPriorities) {
    constexpr std::size_t count = 200;
    random_numbers random;
    pollset set(domain());
    std::deque<alarm> alarms;
    for (std::size_t i = 0; i != count; ++i) {
        add_source(set, static_cast<priority_level>(random.below(priority_count)));
        alarms.emplace_back(*this, set, static_cast<priority_level>(random.below(priority_count)));
    }
    for (std::size_t round = 1; round != 4; ++round) {
        settle(set);
        order_.clear();
        for (alarm& a : alarms) {
            a.set_now();
        }
        for (source& s : sources_) {
            s.fire();
        }
        ASSERT_TRUE(some_alarm_is_due());
        ASSERT_TRUE(until(set, [&] { return order_.size() == 2 * count; }));
        EXPECT_EQ(alarms_, round * count);
        EXPECT_TRUE(std::is_sorted(order_.begin(), order_.end())) << "round " << round;
        for (source& s : sources_) {
            s.arm();
        }
    }
}

/// Handles of two bags and handles of its own, one after the other.
TEST_P(PollsetPriority, EventsOfBagsAreServedInTheOrderOfPrioritiesToo) {
    constexpr std::size_t count = 300;
    random_numbers random;
    pollset set(domain());
    pollset_set one(domain());
    pollset_set other(domain());
    for (std::size_t i = 0; i != count; ++i) {
        source& made = sources_.emplace_back(
            *this, domain(), static_cast<priority_level>(random.below(priority_count)));
        ASSERT_FALSE(i % 3 == 0   ? set.add(made.handle())
                     : i % 3 == 1 ? one.add(made.handle())
                                  : other.add(made.handle()));
    }
    ASSERT_FALSE(one.add(set));
    ASSERT_FALSE(other.add(set));
    settle(set);
    order_.clear();
    for (const source& s : sources_) {
        s.fire();
    }
    ASSERT_TRUE(until(set, [&] { return order_.size() == count; }));
    EXPECT_TRUE(std::is_sorted(order_.begin(), order_.end()));
}

TEST_P(PollsetPriority, MoreEventsThanALookMayTakeAreLeftForTheNext) {
    other_domain_.emplace(poll_domain_options{.strategy = GetParam(), .look_max = 20});
    pollset set(*other_domain_);
    const source& urgent = add_source(set, urgent_priority);
    for (int i = 0; i != 30; ++i) {
        add_source(set, low_priority);
    }
    settle(set);
    for (const source& s : sources_) {
        if (&s != &urgent) {
            s.fire();
        }
    }
    urgent.fire();
    ASSERT_TRUE(until(set, [&] { return order_.size() == 31; }));
    const auto place = std::find(order_.begin(), order_.end(), urgent_priority) - order_.begin();
    EXPECT_EQ(place, 20) << "the look after these finds it";
}

/// The sizes lie on both sides of what one call to the kernel brings.
TEST_P(PollsetPriority, ALookTakesAsManyEventsAsItMay) {
    for (const std::size_t look_max : std::initializer_list<std::size_t>{1, 64, 65, 500, 1'024}) {
        other_domain_.emplace(poll_domain_options{.strategy = GetParam(), .look_max = look_max});
        pollset set(*other_domain_);
        add_source(set, urgent_priority);
        for (std::size_t i = 0; i != look_max + 10; ++i) {
            add_source(set, low_priority);
        }
        settle(set);
        for (const source& s : sources_) {
            s.fire();
        }
        const std::uint64_t before = other_domain_->counters().events;
        events_at_first_ = 0;
        order_.clear();
        ASSERT_TRUE(until(set, [&] { return order_.size() == sources_.size(); }));
        EXPECT_EQ(events_at_first_ - before, look_max);
        sources_.clear();
    }
}

/// While all workers are busy nobody looks at the kernel. The first worker that comes free must
/// look before it chooses, or it serves what was harvested first.
TEST_P(PollsetPriority, AWorkerThatComesFreeServesTheMostUrgentOfWhatHappened) {
    pollset set(domain());
    const source& urgent = add_source(set, urgent_priority);
    for (int i = 0; i != 100; ++i) {
        add_source(set, low_priority);
    }
    struct blocker final : closure {
        explicit blocker(poll_domain& domain)
            : closure([](closure& self, std::error_code) {
                  auto& me = static_cast<blocker&>(self);
                  me.inside = true;
                  EXPECT_TRUE(comes([&] { return me.go.load(); }));
              }),
              pipe(make_pipe()),
              handle(domain, std::move(pipe.first), {.priority = 0}) {
            EXPECT_FALSE(handle->notify_on_read(*this));
        }
        fd_pair pipe;
        std::atomic<bool> inside{false};
        std::atomic<bool> go{false};
        held_handle handle;
    };
    blocker one(domain());
    blocker other(domain());
    const serving first(set);
    const serving second(set);
    for (blocker* const b : {&one, &other}) {
        ASSERT_FALSE(set.add(*b->handle));
        write_all(b->pipe.second.get(), "x");
        ASSERT_TRUE(comes([&] { return b->inside.load(); }));
    }
    for (const source& s : sources_) {
        if (&s != &urgent) {
            s.fire();
        }
    }
    urgent.fire();
    one.go = true;
    EXPECT_TRUE(comes([&] { return served_ == sources_.size(); }));
    other.go = true;
    EXPECT_EQ(order_.front(), urgent_priority);
}

/// Takes one byte of a pipe per call, and writes its priority into a list.
class byte_watch final : public pollset_watch {
public:
    byte_watch(pollset& set, unique_fd fd, priority_level priority,
               std::vector<priority_level>& order)
        : pollset_watch(set, std::move(fd), interest::readable, {.priority = priority}),
          priority_(priority),
          order_(order) {
        set_nonblocking(this->fd(), true);
        arm();
    }

private:
    reaction on_ready(interest) override {
        char byte = 0;
        if (::read(fd(), &byte, 1) != 1) {
            return reaction::rearm;
        }
        order_.push_back(priority_);
        return reaction::again;
    }
    void on_removed() noexcept override { delete this; }

    priority_level priority_;
    std::vector<priority_level>& order_;
};

TEST_P(PollsetPriority, OneThatSaysAgainIsCalledBeforeAllLessUrgentEvents) {
    pollset set(domain());
    fd_pair low = make_pipe();
    fd_pair high = make_pipe();
    auto* const on_low = new byte_watch(set, std::move(low.first), low_priority, order_);
    auto* const on_high = new byte_watch(set, std::move(high.first), urgent_priority, order_);
    write_all(low.second.get(), std::string(20, 'x'));
    write_all(high.second.get(), std::string(200, 'x'));
    EXPECT_TRUE(until(set, [&] { return order_.size() == 220; }));
    EXPECT_TRUE(std::is_sorted(order_.begin(), order_.end()));
    on_low->remove();
    on_high->remove();
}

TEST_P(PollsetPriority, AnUrgentEventIsServedAfterTheNextLookAtTheKernel) {
    constexpr std::ptrdiff_t calls_between_looks = 64;
    pollset set(domain());
    fd_pair low = make_pipe();
    auto* const on_low = new byte_watch(set, std::move(low.first), low_priority, order_);
    source& urgent = add_source(set, urgent_priority);
    write_all(low.second.get(), std::string(1'000, 'x'));
    for (std::size_t round = 1; round != 4; ++round) {
        const auto before = static_cast<std::ptrdiff_t>(order_.size());
        urgent.fire();
        const auto served = [&] {
            return std::find(order_.begin() + before, order_.end(), urgent_priority);
        };
        ASSERT_TRUE(until(set, [&] { return served() != order_.end(); }));
        EXPECT_LE(served() - order_.begin() - before, calls_between_looks) << "round " << round;
        urgent.arm();
    }
    on_low->remove();
}

TEST_P(PollsetPriority, AnUrgentTimerIsServedAfterTheNextLookAtTheKernel) {
    constexpr std::ptrdiff_t calls_between_looks = 64;
    pollset set(domain());
    fd_pair low = make_pipe();
    auto* const on_low = new byte_watch(set, std::move(low.first), low_priority, order_);
    alarm urgent(*this, set, urgent_priority);
    write_all(low.second.get(), std::string(1'000, 'x'));
    for (std::size_t round = 1; round != 4; ++round) {
        const auto before = static_cast<std::ptrdiff_t>(order_.size());
        urgent.set_now();
        ASSERT_TRUE(some_alarm_is_due());
        ASSERT_TRUE(until(set, [&] { return alarms_ == round; }));
        const auto served =
            std::find(order_.begin() + before, order_.end(), urgent_priority) - order_.begin();
        EXPECT_LE(served - before, calls_between_looks) << "round " << round;
    }
    on_low->remove();
}

}  // namespace
}  // namespace eddy::test::priority_test
