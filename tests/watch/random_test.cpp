// SPDX-License-Identifier: Apache-2.0
#include "support/random.hpp"
#include "watch/test_watch.hpp"

#include <array>
#include <memory>
#include <thread>

namespace eddy::test::random_test {
namespace {

/// What a watch over a pipe should do, as simple as can be: it is called only while it is armed,
/// and it is called when it is armed and the pipe has something.
struct modelled {
    fd_pair pipe;
    fd_watch* watch = nullptr;  ///< of one of these
    std::unique_ptr<test_watch> plain;
    std::unique_ptr<bidi_watch> both;
    watch_handle handle;
    bool armed = false;     ///< it may be called
    bool removed = false;   ///< remove() was called
    bool finished = false;  ///< on_removed has been seen
    bool wants_read = true;
    std::size_t filled = 0;  ///< bytes in the pipe
    int calls = 0;
    int requeues = 0;
};

/// Every call on watches, in any order, from inside callbacks and outside of them, on the loop's
/// thread and on another.
class WatchRandomSteps : public EngineTest {
protected:
    void steps(std::size_t count) {
        for (auto& m : all_) {
            make(m);
        }
        for (std::size_t i = 0; i != count && !HasFailure(); ++i) {
            step();
            if (i % 250 == 0) {
                check_nothing_is_lost();
            }
        }
        check_nothing_is_lost();
        quiet_ = true;
        for (auto& m : all_) {
            check_liveness(m);
        }
        for (auto& m : all_) {
            destroy(m);
            m.pipe = {};
        }
        // Handles remove their watches.
        EXPECT_TRUE(until_driven([&] { return loop().empty(); }));
        EXPECT_GT(total_calls_, count / 20);  // or the steps were too idle to show anything
    }

private:
    static constexpr std::size_t watches = 8;

    /// A watch for both directions of which only one is ever armed.
    struct half_used : bidi_watch {
        half_used(WatchRandomSteps& of, modelled& model, unique_fd fd, const watch_options& how)
            : bidi_watch(of.loop(), std::move(fd), &on_in, &on_out, &on_removed,
                         {.in = how, .out = {.armed = false}}),
              test(of),
              m(model) {}

        static reaction on_in(bidi_watch& w, fd_watch& half) noexcept {
            const auto& self = static_cast<half_used&>(w);
            return self.test.on_call(self.m, half);
        }
        static reaction on_out(bidi_watch&, fd_watch&) noexcept {
            ADD_FAILURE() << "called for the other direction, which was not armed";
            return reaction::disarm;
        }
        static void on_removed(bidi_watch& w) noexcept {
            EXPECT_EQ(w.native_handle(), -1);
            EXPECT_TRUE(static_cast<half_used&>(w).m.removed);
        }

        WatchRandomSteps& test;
        modelled& m;
    };

    static void destroy(modelled& m) {
        m.watch = nullptr;
        m.plain.reset();
        m.both.reset();
        m.handle.reset();
    }

    void make(modelled& m) {
        destroy(m);
        const fd_pair old = std::exchange(m.pipe, make_pipe());
        m.armed = random_.one_in(2);
        m.removed = m.finished = false;
        m.wants_read = true;
        m.filled = 0;
        m.requeues = 0;
        set_nonblocking(m.pipe.first.get(), true);
        const watch_options options{.priority = some_priority(), .armed = m.armed};
        auto called = [this, &m](fd_watch& w) { return on_call(m, w); };
        switch (random_.below(4)) {
            case 0:
                m.plain = std::make_unique<test_watch>(loop(), m.pipe.first.get(),
                                                       interest::readable, called, options);
                m.watch = m.plain.get();
                break;
            case 1:
                m.plain = std::make_unique<test_watch>(loop(), std::move(m.pipe.first),
                                                       interest::readable, called, options);
                m.watch = m.plain.get();
                break;
            case 2:
                m.both = std::make_unique<half_used>(*this, m, std::move(m.pipe.first), options);
                m.watch = &m.both->in();
                break;
            default:
                m.handle =
                    watch_fd(loop(), std::move(m.pipe.first), interest::readable, called, options);
                m.watch = m.handle.get();
        }
    }

    static bool is_removed(const modelled& m) {
        return m.plain != nullptr ? m.plain->removals == 1 : m.watch->native_handle() == -1;
    }

    /// Not 0, which commands that are posted have: a watch that was found ready before goes first.
    priority_level some_priority() { return static_cast<priority_level>(1 + random_.below(63)); }
    modelled& some() { return all_[random_.below(all_.size())]; }

    reaction on_call(modelled& m, fd_watch& w) {
        ++m.calls;
        ++total_calls_;
        EXPECT_TRUE(m.armed) << "called while disarmed";
        EXPECT_FALSE(m.removed) << "called after its removal";
        EXPECT_TRUE(m.wants_read || m.requeues != 0) << "called for what it did not ask";
        m.armed = false;
        if (quiet_) {
            drain(w.native_handle());
            m.filled = 0;
            return reaction::disarm;
        }
        inside_ = &m;
        for (std::uint64_t n = random_.below(3); n != 0; --n) {
            command(random_.one_in(3) ? m : some(), true);
        }
        inside_ = nullptr;
        if (!m.removed && random_.one_in(30)) {
            make(m);
            return reaction::destroyed;
        }
        const bool empties = random_.one_in(2);
        if (empties) {
            drain(w.native_handle());
            m.filled = 0;
        } else if (m.filled != 0 && random_.one_in(2)) {
            read_one(w.native_handle());
            --m.filled;
        }
        return react(m, empties);
    }

    reaction react(modelled& m, bool emptied) {
        if (m.removed) {
            return random_.one_in(2) ? reaction::rearm : reaction::disarm;
        }
        m.requeues = 0;
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
                m.armed = true;
                m.requeues = 1;
                return reaction::requeue;
            case 4:
            case 5:
                if (emptied) {
                    m.armed = true;
                    return reaction::rearm;
                }
                [[fallthrough]];
            default:
                m.armed = true;
                return reaction::again;
        }
    }

    void command(modelled& m, bool on_loop) {
        fd_watch& w = *m.watch;
        switch (random_.below(8)) {
            case 0:
                w.disarm();
                if (!m.removed) {
                    m.armed = false;
                }
                break;
            case 1:
                if (on_loop && &m != inside_ && !m.removed && random_.one_in(8)) {
                    make(m);  // destroyed while armed, ready, or anything
                }
                break;
            case 2:
                if (random_.one_in(10)) {
                    m.removed = true;
                    if (m.both != nullptr) {
                        m.both->out().remove();
                    }
                    w.remove();
                    m.armed = false;
                }
                break;
            case 3:
                w.set_priority(some_priority());
                break;
            case 4:
                if (!m.removed) {
                    m.wants_read = random_.one_in(2);
                    w.set_interest(m.wants_read ? interest::readable : interest::priority);
                }
                break;
            default:
                w.arm();
                m.armed = !m.removed;
        }
    }

    void step() {
        modelled& m = some();
        switch (random_.below(8)) {
            case 0:
            case 1:
                loop().poll();
                break;
            case 2:
            case 3:
                if (m.filled < 100 && !m.removed) {
                    ASSERT_EQ(::write(m.pipe.second.get(), "x", 1), 1);
                    ++m.filled;
                }
                break;
            case 4:
                if (random_.one_in(50)) {
                    std::thread([&] { command(m, false); }).join();
                    break;
                }
                [[fallthrough]];
            default:
                if (is_removed(m) && !m.finished) {
                    m.finished = true;
                    EXPECT_TRUE(m.removed);
                    EXPECT_EQ(m.watch->native_handle(), -1);
                }
                if (m.finished || (!m.removed && random_.one_in(40))) {
                    make(m);  // the old one is destroyed while armed, ready, or anything
                } else {
                    command(m, false);
                }
        }
    }

    /// Nothing more is written: whoever is armed for what is there already is called.
    void check_nothing_is_lost() {
        std::array<int, watches> before{};
        std::array<bool, watches> due{};
        for (std::size_t i = 0; i != watches; ++i) {
            const modelled& m = all_[i];
            before[i] = m.calls;
            due[i] = m.armed && m.wants_read && m.filled != 0;
        }
        quiet_ = true;
        for (std::size_t i = 0; i != watches; ++i) {
            EXPECT_TRUE(!due[i] || until_driven([&] { return all_[i].calls > before[i]; }))
                << "an event was lost";
        }
        quiet_ = false;
    }

    /// After all that, an armed watch of a pipe that has something is called, and a removed one
    /// told.
    void check_liveness(modelled& m) {
        if (m.removed) {
            EXPECT_TRUE(until_driven([&] { return is_removed(m); }));
            return;
        }
        const int before = m.calls;
        m.wants_read = true;
        m.watch->set_interest(interest::readable);
        m.watch->arm();
        m.armed = true;
        ASSERT_EQ(::write(m.pipe.second.get(), "x", 1), 1);
        ++m.filled;
        EXPECT_TRUE(until_driven([&] { return m.calls > before; }));
    }

    random_numbers random_;
    std::array<modelled, watches> all_;
    modelled* inside_ = nullptr;
    bool quiet_ = false;  ///< only liveness matters: nobody commands another
    std::size_t total_calls_ = 0;
};

TEST_P(WatchRandomSteps, AgreeWithTheModel) { steps(10'000); }
EDDY_ON_EVERY_ENGINE(WatchRandomSteps);

class LongWatchRandomSteps : public WatchRandomSteps {};
TEST_P(LongWatchRandomSteps, AgreeWithTheModel) { steps(scaled(1'000'000)); }
EDDY_ON_EVERY_ENGINE(LongWatchRandomSteps);

}  // namespace
}  // namespace eddy::test::random_test
