// SPDX-License-Identifier: Apache-2.0
#include "watch/test_watch.hpp"

namespace eddy::test::bidi_watch_test {
namespace {

class BidiWatch : public EngineTest {};
EDDY_ON_EVERY_ENGINE(BidiWatch);

struct counted : bidi_watch {
    counted(eddy::loop& home, unique_fd fd, const bidi_watch::options& how = {})
        : bidi_watch(home, std::move(fd), &on_in, &on_out, &gone, how) {}

    static reaction on_in(bidi_watch& w, fd_watch& half) noexcept {
        EXPECT_EQ(&half, &w.in());
        auto& self = static_cast<counted&>(w);
        ++self.ins;
        drain(w.native_handle());
        return reaction::rearm;
    }
    static reaction on_out(bidi_watch& w, fd_watch& half) noexcept {
        EXPECT_EQ(&half, &w.out());
        auto& self = static_cast<counted&>(w);
        ++self.outs;
        return reaction::disarm;
    }
    static void gone(bidi_watch& w) noexcept {
        EXPECT_EQ(w.native_handle(), -1) << "closed right before";
        ++static_cast<counted&>(w).removals;
    }

    int ins = 0;
    int outs = 0;
    int removals = 0;
};

TEST_P(BidiWatch, CallsEachDirectionForItself) {
    fd_pair pair = unix_stream_pair();
    counted w(loop(), std::move(pair.first));
    settle();
    EXPECT_EQ(w.outs, 0);
    w.out().arm();
    ASSERT_TRUE(until([&] { return w.outs == 1; }));
    EXPECT_EQ(w.ins, 0);
    write_all(pair.second.get(), "x");
    ASSERT_TRUE(until([&] { return w.ins == 1; }));
    settle();
    EXPECT_EQ(w.outs, 1);
}

TEST_P(BidiWatch, RemovingOneHalfLeavesTheOtherAndTellsAfterBoth) {
    fd_pair pair = unix_stream_pair();
    counted w(loop(), std::move(pair.first));
    w.out().remove();
    settle();
    EXPECT_EQ(w.removals, 0);
    write_all(pair.second.get(), "x");
    ASSERT_TRUE(until([&] { return w.ins == 1; }));
    w.remove();
    ASSERT_TRUE(until([&] { return w.removals == 1; }));
    settle();
    EXPECT_EQ(w.removals, 1);
    EXPECT_EQ(w.outs, 0);
}

TEST_P(BidiWatch, TheWritingHalfLivesOnWhenTheReadingOneIsRemovedFirst) {
    fd_pair pair = unix_stream_pair();
    counted w(loop(), std::move(pair.first), {.in = {}, .out = {.armed = false}});
    const int fd = w.native_handle();
    w.in().remove();
    settle();
    EXPECT_EQ(w.removals, 0);
    EXPECT_TRUE(is_open(fd));
    write_all(pair.second.get(), "x");
    w.out().arm();
    ASSERT_TRUE(until([&] { return w.outs == 1; }));
    EXPECT_EQ(w.ins, 0);
    w.out().remove();
    ASSERT_TRUE(until([&] { return w.removals == 1; }));
    EXPECT_FALSE(is_open(fd));
}

/// Both directions become ready while the loop does not run, so that it finds them together.
TEST_P(BidiWatch, HasAPriorityForEachDirection) {
    for (const bool out_first : {false, true}) {
        fd_pair pair = unix_stream_pair();
        set_nonblocking(pair.first.get(), true);
        set_nonblocking(pair.second.get(), true);
        while (::write(pair.first.get(), "y", 1) == 1) {}  // small pieces: no room is left
        counted w(loop(), std::move(pair.first),
                  {.in = {.priority = 20, .armed = false},
                   .out = {.priority = out_first ? priority_level{10} : priority_level{30},
                           .armed = false}});
        w.in().arm();
        w.out().arm();
        settle();
        ASSERT_EQ(w.ins + w.outs, 0);
        drain(pair.second.get());
        write_all(pair.second.get(), "x");
        loop().run(run_mode::stopped, {.until = clock::now() + patience, .completions = 1});
        EXPECT_EQ(w.ins + w.outs, 1);
        EXPECT_EQ(w.outs, out_first ? 1 : 0);
        settle();
        EXPECT_EQ(w.ins, 1);
        EXPECT_EQ(w.outs, 1);
    }
}

TEST_P(BidiWatch, CanBeDestroyedWhileBothAreArmed) {
    fd_pair pair = unix_stream_pair();
    {
        counted w(loop(), std::move(pair.first));
        w.out().arm();
        loop().poll();
    }
    settle();
    EXPECT_TRUE(loop().empty());
}

}  // namespace
}  // namespace eddy::test::bidi_watch_test
