// SPDX-License-Identifier: Apache-2.0
// Priorities of watches that are called for real events of the kernel.
#include "support/random.hpp"
#include "support/signals.hpp"
#include "watch/test_watch.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/socket.h>

namespace eddy::test::priority_test {
namespace {

constexpr priority_level urgent_priority = 3;
constexpr priority_level low_priority = 50;

class WatchPriority : public EngineTest {
public:
    static inline const int rt = SIGRTMIN + 4;

    /// Posted work of low priority, which writes an 'l' into `order_`.
    struct low_entry : entry {
        explicit low_entry(std::string& to)
            : entry([](entry& e) noexcept { static_cast<low_entry&>(e).order += 'l'; }), order(to) {
            set_priority(low_priority);
        }
        std::string& order;
    };
    void post_low(std::size_t count) {
        for (std::size_t i = 0; i != count; ++i) {
            loop().post(*entries_.emplace_back(std::make_unique<low_entry>(order_)));
        }
    }
    /// A watch of low priority for a pipe with one byte in it; it writes an 'l' into `order_`.
    void add_low_pipe() {
        pipes_.push_back(make_pipe());
        write_all(pipes_.back().second.get(), "x");
        watches_.push_back(std::make_unique<test_watch>(
            loop(), pipes_.back().first.get(), interest::readable,
            [this](test_watch& w) {
                order_ += 'l';
                return take_all(w);
            },
            watch_options{.priority = low_priority}));
    }
    /// Writes a 'u' into `order_` for the call of an urgent watch.
    void called() { order_ += 'u'; }

    blocked_signals blocked_{{rt}};
    std::string order_;  ///< who was called: 'u' for an urgent watch, 'l' for anything else

private:
    std::vector<std::unique_ptr<low_entry>> entries_;
    std::vector<fd_pair> pipes_;
    std::vector<std::unique_ptr<test_watch>> watches_;

    void TearDown() override {
        watches_.clear();
        pipes_.clear();
        EngineTest::TearDown();
    }
};
EDDY_ON_EVERY_ENGINE(WatchPriority);

TEST_P(WatchPriority, OneThatSaysAgainIsCalledBeforeAllLessUrgentWork) {
    for (const pair_maker make : {make_pipe, unix_stream_pair, tcp_pair}) {
        order_.clear();
        fd_pair pair = make();
        write_all(pair.second.get(), std::string(20, 'x'));
        ASSERT_TRUE(becomes_ready(pair.first.get(), POLLIN));
        test_watch urgent(loop(), pair.first.get(), interest::readable,
                          [&](test_watch& w) {
                              called();
                              if (w.calls == 1) {
                                  post_low(100);
                              }
                              return take_one(w);
                          },
                          {.priority = urgent_priority});
        ASSERT_TRUE(until([&] { return order_.size() == 120; }));
        EXPECT_EQ(order_, std::string(20, 'u') + std::string(100, 'l'));
        settle();
        EXPECT_EQ(urgent.calls, 20) << "nothing was left, so it is only armed";
        write_all(pair.second.get(), "x");
        ASSERT_TRUE(until([&] { return urgent.calls == 21; }));
    }
}

TEST_P(WatchPriority, AWritingHalfThatSaysAgainIsCalledBeforeAllLessUrgentWork) {
    struct writing : bidi_watch {
        writing(eddy::loop& home, unique_fd fd, WatchPriority& of)
            : bidi_watch(home, std::move(fd), &on_in, &on_out, nullptr,
                         {.out = {.priority = urgent_priority}}),
              test(of) {}
        static reaction on_in(bidi_watch&, fd_watch&) noexcept { return reaction::disarm; }
        static reaction on_out(bidi_watch& both, fd_watch&) noexcept {
            auto& self = static_cast<writing&>(both);
            self.test.called();
            if (++self.calls == 1) {
                self.test.post_low(100);
                self.test.add_low_pipe();
            }
            return self.calls < 20 ? reaction::again : reaction::disarm;
        }
        WatchPriority& test;
        int calls = 0;
    };
    for (const pair_maker make : {unix_stream_pair, tcp_pair}) {
        order_.clear();
        fd_pair pair = make();
        const writing urgent(loop(), std::move(pair.first), *this);
        ASSERT_TRUE(until([&] { return order_.size() == 121; }));
        EXPECT_EQ(order_, std::string(20, 'u') + std::string(101, 'l'));
    }
}

TEST_P(WatchPriority, OneThatSaysAgainIsCalledBeforeLessUrgentEventsOfTheKernel) {
    for (int i = 0; i != 40; ++i) {
        add_low_pipe();
    }
    fd_pair pipe = make_pipe();
    write_all(pipe.second.get(), std::string(20, 'x'));
    test_watch urgent(loop(), pipe.first.get(), interest::readable,
                      [&](test_watch& w) {
                          called();
                          return take_one(w);
                      },
                      {.priority = urgent_priority});
    ASSERT_TRUE(until([&] { return order_.size() == 60; }));
    EXPECT_EQ(order_, std::string(20, 'u') + std::string(40, 'l'));
}

TEST_P(WatchPriority, OneThatSaysAgainLeavesLessUrgentSignalsInTheKernel) {
    constexpr int signals = 50;
    for (int i = 0; i != signals; ++i) {
        ASSERT_TRUE(queue_signal(rt, i));
    }
    fd_pair pipe = make_pipe();
    write_all(pipe.second.get(), std::string(20, 'x'));
    test_watch urgent(loop(), pipe.first.get(), interest::readable,
                      [&](test_watch& w) {
                          called();
                          return take_one(w);
                      },
                      {.priority = urgent_priority});
    const auto taken = watch_signals(loop(), rt,
                                     [&](signal_watch&, const signal_info&) {
                                         order_ += 'l';
                                         return reaction::rearm;
                                     },
                                     {.priority = low_priority});
    ASSERT_TRUE(until([&] { return order_.size() == 20 + signals; }));
    EXPECT_EQ(order_, std::string(20, 'u') + std::string(signals, 'l'));
}

TEST_P(WatchPriority, OnesThatSayAgainTakeTurnsWithinTheirPriority) {
    std::array<fd_pair, 3> pipes{make_pipe(), make_pipe(), make_pipe()};
    std::vector<std::unique_ptr<test_watch>> watches;
    std::string order;
    for (std::size_t i = 0; i != pipes.size(); ++i) {
        write_all(pipes[i].second.get(), std::string(10, 'x'));
        watches.push_back(std::make_unique<test_watch>(
            loop(), pipes[i].first.get(), interest::readable,
            [&order, i](test_watch& w) {
                order += static_cast<char>('a' + i);
                return take_one(w);
            },
            watch_options{.priority = urgent_priority}));
    }
    ASSERT_TRUE(until([&] { return order.size() == 30; }));
    for (std::size_t i = 3; i != order.size(); ++i) {
        EXPECT_EQ(order[i], order[i - 3]) << order;
    }
}

TEST_P(WatchPriority, OneThatIsArmedAndReadyIsCalledBeforeAllLessUrgentWork) {
    fd_pair pipe = make_pipe();
    write_all(pipe.second.get(), "x");
    test_watch urgent(loop(), pipe.first.get(), interest::readable,
                      [&](test_watch&) {
                          called();
                          return reaction::disarm;
                      },
                      {.priority = urgent_priority, .armed = false});
    settle();
    for (int round = 0; round != 3; ++round) {
        order_.clear();
        struct arming : entry {
            explicit arming(test_watch& w)
                : entry([](entry& e) noexcept { static_cast<arming&>(e).armed.arm(); }), armed(w) {}
            test_watch& armed;
        } arms(urgent);
        arms.set_priority(0);
        post_low(100);
        loop().post(arms);
        ASSERT_TRUE(until([&] { return order_.size() == 101; }));
        EXPECT_EQ(order_, 'u' + std::string(100, 'l'));
    }
}

TEST_P(WatchPriority, EventsThatAreThereTogetherAreCalledForInTheOrderOfPriorities) {
    random_numbers random;
    std::vector<std::size_t> places(priority_count);
    for (std::size_t i = 0; i != places.size(); ++i) {
        places[i] = i;
        std::swap(places[i], places[random.below(i + 1)]);
    }
    std::vector<std::size_t> order;
    std::vector<fd_pair> pipes(priority_count);
    std::vector<std::unique_ptr<test_watch>> watches;
    for (const std::size_t i : places) {
        pipes[i] = i % 2 == 0 ? make_pipe() : tcp_pair();
        watches.push_back(std::make_unique<test_watch>(
            loop(), pipes[i].first.get(), interest::readable,
            [&order, i](test_watch& w) {
                order.push_back(i);
                return take_all(w);
            },
            watch_options{.priority = static_cast<priority_level>(i)}));
    }
    settle();
    for (int round = 0; round != 3; ++round) {
        order.clear();
        std::reverse(places.begin(), places.end());
        for (const std::size_t i : places) {
            write_all(pipes[i].second.get(), "x");
            ASSERT_TRUE(becomes_ready(pipes[i].first.get(), POLLIN));
        }
        ASSERT_TRUE(until([&] { return order.size() == priority_count; }));
        EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    }
}

TEST_P(WatchPriority, AnUrgentEventIsCalledForAfterTheNextLookAtTheKernel) {
    make_loop({.batch_max = 8});
    fd_pair pair = unix_stream_pair();
    test_watch urgent(loop(), pair.first.get(), interest::readable,
                      [&](test_watch& w) {
                          called();
                          return take_all(w);
                      },
                      {.priority = urgent_priority});
    fd_pair busy = make_pipe();
    write_all(busy.second.get(), std::string(100, 'x'));
    settle();
    test_watch low(loop(), busy.first.get(), interest::readable,
                   [&](test_watch& w) {
                       order_ += 'l';
                       if (w.calls % 20 == 0) {
                           write_all(pair.second.get(), "x");
                       }
                       return take_one(w);
                   },
                   {.priority = low_priority});
    ASSERT_TRUE(until([&] { return urgent.calls == 5 && low.calls == 100; }));
    std::size_t overtaken = 0;  // calls of the other since the event
    for (std::size_t i = 0, lows = 0, waiting = 0; i != order_.size(); ++i) {
        if (order_[i] == 'u') {
            waiting = 0;
        } else {
            overtaken = std::max(overtaken, waiting);
            ++lows;
            waiting += waiting != 0 || lows % 20 == 0 ? 1U : 0U;
        }
    }
    EXPECT_LE(overtaken, 8U) << order_;
}

}  // namespace
}  // namespace eddy::test::priority_test
