// SPDX-License-Identifier: Apache-2.0
#include "os/process_fixture.hpp"
#include "support/random.hpp"
#include "support/signals.hpp"
#include "watch/test_watch.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <thread>

namespace eddy::test::random_events_test {
namespace {

/// What every watch should do, whatever it is called for: see on_call().
struct modelled {
    bool armed = false;        ///< it may be called
    bool removed = false;      ///< remove() was called
    bool may_repeat = false;   ///< it was requeued
    bool must_repeat = false;  ///< and was not disarmed since
    int removals = 0;
    int calls = 0;
    int last = 0;  ///< what it was told
    std::unique_ptr<watch> made;
};

/// A watch of this kind that knows its model.
template <class Watch>
struct tracked : Watch {
    template <class... Arguments>
    explicit tracked(modelled& m, Arguments&&... arguments)
        : Watch(std::forward<Arguments>(arguments)...), model(m) {}
    modelled& model;
};

/// A real-time signal: each value that was sent is told once, to one of its watches, in order.
struct sent_signal {
    int signum = 0;
    std::unique_ptr<signal_source> shared;  ///< null: its watch has one of its own
    std::deque<int> values;
};

struct modelled_signal : modelled {
    sent_signal* signal = nullptr;
};

/// A child of which the watch is told once, when it has ended; until it gets another.
struct modelled_child : modelled {
    unique_fd commands;  ///< the child exits with the byte that comes here
    pid_t pid = -1;
    bool ending = false;
    bool told = true;
    int code = 0;
};

/// A timer whose deadlines have passed when they are set, or are far away: of those that have
/// passed each is told once, unless it is set anew.
struct modelled_timer : modelled {
    std::uint64_t owed = 0;
};

class WatchRandomEvents : public ProcessTest {
protected:
    void steps(std::size_t count) {
        children_max_ = 26 + count / 1000;
        for (std::size_t i = 0; i != signals_.size(); ++i) {
            signals_[i].signum = first_signal + static_cast<int>(i);
        }
        signals_.back().shared = std::make_unique<signal_source>(loop(), signals_.back().signum);
        for (std::size_t i = 0; i != signal_watches_.size(); ++i) {
            signal_watches_[i].signal = &signals_[std::min(i, signals_.size() - 1)];
            make(signal_watches_[i]);
        }
        for (auto& m : child_watches_) {
            make(m);
        }
        for (auto& m : timer_watches_) {
            make(m);
        }
        for (std::size_t i = 0; i != count && !HasFailure(); ++i) {
            step();
        }
        quiet_ = true;
        for (auto& m : signal_watches_) {
            check_liveness(m);
        }
        for (auto& m : child_watches_) {
            check_liveness(m);
        }
        for (auto& m : timer_watches_) {
            check_liveness(m);
        }
        EXPECT_GT(total_calls_, count / 20);  // or the steps were too idle to show anything
        EXPECT_GT(children_, 10U);
        for (auto& m : signal_watches_) {
            m.made.reset();
        }
        for (auto& m : child_watches_) {
            end_child(m);
            m.made.reset();
        }
        for (auto& m : timer_watches_) {
            m.made.reset();
        }
        signals_.back().shared.reset();
    }

private:
    static inline const int first_signal = SIGRTMIN + 5;

    static void start_over(modelled& m, bool armed) {
        m.made.reset();
        m.removed = m.may_repeat = m.must_repeat = false;
        m.removals = 0;
        m.armed = armed;
    }
    void make(modelled_signal& m) {
        start_over(m, random_.one_in(2));
        const watch_options options{.priority = some_priority(), .armed = m.armed};
        const auto on_signal = [](signal_watch& w, const signal_info& info) noexcept {
            auto& model = static_cast<modelled_signal&>(static_cast<signal_kind&>(w).model);
            return test_->on_signal(model, static_cast<int>(info.value));
        };
        const auto on_removed = [](signal_watch& w) noexcept {
            ++static_cast<signal_kind&>(w).model.removals;
        };
        if (m.signal->shared != nullptr) {
            m.made = std::make_unique<signal_kind>(m, *m.signal->shared, m.signal->signum,
                                                   on_signal, on_removed, options);
        } else {
            m.made = std::make_unique<signal_kind>(m, loop(), m.signal->signum, on_signal,
                                                   on_removed, options);
        }
    }
    void make(modelled_child& m) {
        start_over(m, random_.one_in(2));
        end_child(m);
        m.told = true;
        const auto on_end = [](child_watch& w, const exit_status& status) noexcept {
            auto& model = static_cast<modelled_child&>(static_cast<child_kind&>(w).model);
            return test_->on_end(model, status);
        };
        const auto on_removed = [](child_watch& w) noexcept {
            ++static_cast<child_kind&>(w).model.removals;
        };
        m.made = std::make_unique<child_kind>(
            m, loop(), on_end, on_removed,
            watch_options{.priority = some_priority(), .armed = m.armed});
    }
    void make(modelled_timer& m) {
        start_over(m, random_.one_in(2));
        m.owed = 0;
        const auto on_expired = [](timer_watch& w) noexcept {
            auto& model = static_cast<modelled_timer&>(static_cast<timer_kind&>(w).model);
            return test_->on_expired(model, w.expirations());
        };
        const auto on_removed = [](timer_watch& w) noexcept {
            ++static_cast<timer_kind&>(w).model.removals;
        };
        m.made = std::make_unique<timer_kind>(
            m, loop(), on_expired, on_removed,
            watch_options{.priority = some_priority(), .armed = m.armed});
    }

    /// On the loop's thread, or while it does not run.
    void set(modelled_timer& m) {
        auto& w = static_cast<timer_watch&>(*m.made);
        const auto count = static_cast<int>(random_.below(4));
        m.owed = static_cast<std::uint64_t>(count);
        if (count == 0 && random_.one_in(2)) {
            w.clear();
        } else if (count == 1 && random_.one_in(2)) {
            w.set_after(duration::zero());
        } else {
            w.set_at(clock::now() + 30min - count * 1h, 1h);
        }
    }

    /// On the loop's thread, or while it does not run.
    void give_child(modelled_child& m) {
        ++children_;
        auto [reader, writer] = make_pipe();
        const pid_t pid = ::fork();
        ASSERT_GE(pid, 0);
        if (pid == 0) {
            unsigned char code = 0;
            ::_exit(::read(reader.get(), &code, 1) == 1 ? code : 255);
        }
        m.commands = std::move(writer);
        m.pid = pid;
        m.told = m.ending = m.may_repeat = m.must_repeat = false;
        ASSERT_FALSE(static_cast<child_watch&>(*m.made).adopt(pid));
    }
    /// It has ended when this returns: what comes next does not depend on how quick it was, so that
    /// a seed repeats it.
    void end_child(modelled_child& m) {
        if (!m.commands) {
            return;
        }
        m.code = static_cast<int>(1 + random_.below(200));
        const auto byte = static_cast<unsigned char>(m.code);
        EXPECT_EQ(::write(m.commands.get(), &byte, 1), 1);
        m.commands.reset();
        siginfo_t info{};
        static_cast<void>(::waitid(P_PID, static_cast<id_t>(m.pid), &info, WEXITED | WNOWAIT));
        m.ending = true;
    }
    void send(sent_signal& s) {
        if (s.values.size() < 30) {
            s.values.push_back(++sent_);
            EXPECT_TRUE(queue_signal(s.signum, sent_));
        }
    }

    priority_level some_priority() { return static_cast<priority_level>(random_.below(64)); }
    modelled_signal& some_signal() {
        return signal_watches_[random_.below(signal_watches_.size())];
    }
    modelled& some_watch() {
        switch (random_.below(3)) {
            case 0:
                return some_signal();
            case 1:
                return some_child();
            default:
                return some_timer();
        }
    }
    modelled_timer& some_timer() { return timer_watches_[random_.below(timer_watches_.size())]; }
    modelled_child& some_child() { return child_watches_[random_.below(child_watches_.size())]; }

    reaction on_signal(modelled_signal& m, int value) {
        auto& values = m.signal->values;
        if (!(m.may_repeat && value == m.last)) {
            EXPECT_FALSE(m.must_repeat) << "it was to be called again with the same";
            EXPECT_FALSE(values.empty()) << "called with a signal that nobody has sent";
            if (!values.empty()) {
                EXPECT_EQ(value, values.front());
                values.pop_front();
            }
        }
        m.last = value;
        return on_call(m);
    }
    reaction on_end(modelled_child& m, const exit_status& status) {
        EXPECT_TRUE(m.ending) << "called before it was told to end";
        EXPECT_TRUE(!m.told || m.may_repeat) << "told twice";
        EXPECT_EQ(status.code, m.code);
        m.told = true;
        return on_call(m);
    }
    reaction on_expired(modelled_timer& m, std::uint64_t count) {
        EXPECT_GE(count, 1U);
        EXPECT_LE(count, m.owed);
        m.owed -= count;
        const reaction r = on_call(m);
        m.owed += r == reaction::requeue ? count : 0;
        return r;
    }
    reaction on_call(modelled& m) {
        ++m.calls;
        ++total_calls_;
        EXPECT_TRUE(m.armed) << "called while disarmed";
        EXPECT_FALSE(m.removed) << "called after its removal";
        m.armed = m.may_repeat = m.must_repeat = false;
        if (quiet_) {
            m.armed = true;
            return reaction::rearm;
        }
        inside_ = &m;
        for (std::uint64_t n = random_.below(3); n != 0; --n) {
            command_some(true);
        }
        inside_ = nullptr;
        return react(m);
    }
    reaction react(modelled& m) {
        if (m.removed) {
            return random_.one_in(2) ? reaction::rearm : reaction::disarm;
        }
        m.may_repeat = m.must_repeat = false;
        switch (random_.below(8)) {
            case 0:
                m.armed = false;
                return reaction::disarm;
            case 1:
                return reaction::leave;
            case 2:
                m.armed = false;
                if (random_.one_in(4)) {
                    m.removed = true;
                    return reaction::remove;
                }
                return reaction::disarm;
            case 3:
                m.armed = m.may_repeat = m.must_repeat = true;
                return reaction::requeue;
            case 4:
                m.armed = true;
                return reaction::again;
            default:
                m.armed = true;
                return reaction::rearm;
        }
    }

    void command_some(bool in_callback) {
        if (random_.one_in(4)) {
            modelled_timer& m = some_timer();
            if (!command(m) && may_replace(m, in_callback)) {
                make(m);
            } else if (!m.removed && random_.one_in(3)) {
                set(m);
            }
            return;
        }
        if (random_.one_in(2)) {
            modelled_signal& m = some_signal();
            if (!command(m) && may_replace(m, in_callback)) {
                make(m);
            }
            return;
        }
        modelled_child& m = some_child();
        if (!command(m) && may_replace(m, in_callback)) {
            make(m);
        } else if (m.told && !m.removed && children_ < children_max_ && random_.one_in(10)) {
            give_child(m);
        }
    }
    /// Destroyed while it is armed, ready, or anything.
    bool may_replace(const modelled& m, bool in_callback) {
        return in_callback && &m != inside_ && !m.removed && random_.one_in(8);
    }
    /// False: nothing was done.
    bool command(modelled& m) {
        switch (random_.below(8)) {
            case 0:
                m.made->disarm();
                m.armed = m.must_repeat = false;
                return true;
            case 1:
                return false;
            case 2:
                if (random_.one_in(10)) {
                    m.made->remove();
                    m.removed = true;
                    m.armed = m.must_repeat = false;
                }
                return true;
            case 3:
            case 4:
                m.made->set_priority(some_priority());
                return true;
            default:
                m.made->arm();
                m.armed = !m.removed;
                return true;
        }
    }
    template <class Model>
    void replace_if_removed(Model& m) {
        EXPECT_LE(m.removals, m.removed ? 1 : 0);
        if (m.removals != 0) {
            make(m);
        }
    }

    void step() {
        switch (random_.below(8)) {
            case 0:
            case 1:
                loop().poll();
                break;
            case 2:
            case 3:
                send(signals_[random_.below(signals_.size())]);
                break;
            case 4:
                if (random_.one_in(50)) {
                    modelled& m = some_watch();
                    std::thread([&] { static_cast<void>(command(m)); }).join();
                } else if (random_.one_in(10)) {
                    end_child(some_child());
                }
                break;
            case 5:
                replace_if_removed(some_signal());
                replace_if_removed(some_child());
                replace_if_removed(some_timer());
                break;
            default:
                command_some(false);
        }
    }

    /// After all that, an armed watch is called for what there is, and a removed one told.
    void check_liveness(modelled_signal& m) {
        if (finish_removal(m)) {
            return;
        }
        const int before = m.calls;
        arm(m);
        // Another watch of the same signal may be the one that is told.
        for (auto& other : signal_watches_) {
            if (&other != &m && other.signal == m.signal) {
                other.made->disarm();
                other.armed = other.must_repeat = false;
            }
        }
        m.signal->values.push_back(++sent_);
        EXPECT_TRUE(queue_signal(m.signal->signum, sent_));
        EXPECT_TRUE(until_driven([&] { return m.signal->values.empty(); }));
        EXPECT_GT(m.calls, before);
    }
    void check_liveness(modelled_child& m) {
        if (finish_removal(m)) {
            return;
        }
        if (m.told) {
            give_child(m);
        }
        arm(m);
        end_child(m);
        EXPECT_TRUE(until_driven([&] { return m.told; }));
    }
    void check_liveness(modelled_timer& m) {
        if (finish_removal(m)) {
            return;
        }
        const int before = m.calls;
        arm(m);
        static_cast<timer_watch&>(*m.made).set_after(duration::zero());
        m.owed = 1;
        EXPECT_TRUE(until_driven([&] { return m.owed == 0; }));
        EXPECT_EQ(m.calls, before + 1);
    }
    static void arm(modelled& m) {
        m.made->arm();
        m.armed = true;
    }
    bool finish_removal(modelled& m) {
        return m.removed && until_driven([&] { return m.removals == 1; });
    }

    using signal_kind = tracked<signal_watch>;
    using child_kind = tracked<child_watch>;
    using timer_kind = tracked<timer_watch>;

    void SetUp() override {
        ProcessTest::SetUp();
        test_ = this;
    }

    static inline WatchRandomEvents* test_ = nullptr;

    blocked_signals blocked_{{first_signal, first_signal + 1, first_signal + 2}};
    random_numbers random_;
    std::array<sent_signal, 3> signals_;
    std::array<modelled_signal, 5> signal_watches_;  ///< the last three share a source
    std::array<modelled_child, 4> child_watches_;
    std::array<modelled_timer, 4> timer_watches_;
    modelled* inside_ = nullptr;
    bool quiet_ = false;  ///< only liveness matters any more
    int sent_ = 0;
    std::size_t children_ = 0;
    std::size_t children_max_ = 0;
    std::size_t total_calls_ = 0;
};

TEST_P(WatchRandomEvents, AgreeWithTheModel) { steps(10'000); }
EDDY_ON_EVERY_ENGINE(WatchRandomEvents);

class LongWatchRandomEvents : public WatchRandomEvents {};
TEST_P(LongWatchRandomEvents, AgreeWithTheModel) { steps(scaled(1'000'000)); }
EDDY_ON_EVERY_ENGINE(LongWatchRandomEvents);

}  // namespace
}  // namespace eddy::test::random_events_test
