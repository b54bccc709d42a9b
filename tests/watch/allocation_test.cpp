// SPDX-License-Identifier: Apache-2.0
#include "loop/allocations.hpp"
#include "os/process_fixture.hpp"
#include "support/signals.hpp"
#include "watch/test_watch.hpp"

namespace eddy::test::allocation_test {
namespace {

class WatchAllocation : public EngineTest {};
EDDY_ON_EVERY_ENGINE(WatchAllocation);

reaction read_some(fd_watch& w) noexcept {
    static_cast<void>(drain(w.native_handle()));
    w.moved(1);
    return reaction::rearm;
}

TEST_P(WatchAllocation, HappensNotAfterRegistration) {
    fd_pair pipe = make_pipe();
    fd_pair other = unix_stream_pair();
    bandwidth_group group(loop());
    fd_watch w(loop(), pipe.first.get(), interest::readable, &read_some);
    fd_watch both(loop(), std::move(other.first), interest::readable | interest::writable,
                  [](fd_watch&) noexcept { return reaction::disarm; });
    timer_watch ticks(loop(), [](timer_watch&) noexcept { return reaction::rearm; });
    group.add(both);
    loop().poll();
    const auto before = allocations();
    ticks.set_after(0ms, 10us);
    for (int i = 0; i != 1000; ++i) {
        static_cast<void>(!::write(pipe.second.get(), "x", 1));
        if (i % 10 == 0) {  // with io_uring it begins anew by that
            w.set_interest(i % 20 == 0 ? interest::readable
                                       : interest::readable | interest::priority);
        }
        w.set_priority(static_cast<priority_level>(i % 64));
        both.arm();
        if (i % 10 == 5) {
            w.disarm();
        }
        w.arm();
        loop().poll();
    }
    both.remove();
    w.remove();
    for (int i = 0; i != 10; ++i) {
        loop().poll();
    }
    EXPECT_EQ(allocations(), before);
    EXPECT_GT(w.bytes_moved(), 100U);
    EXPECT_EQ(w.native_handle(), -1);
}

TEST_P(WatchAllocation, HappensNotWithBothDirectionsOfASocket) {
    fd_pair pair = unix_stream_pair();
    static int removals;
    removals = 0;
    bidi_watch w(
        loop(), std::move(pair.first),
        [](bidi_watch& both, fd_watch&) noexcept {
            static_cast<void>(drain(both.native_handle()));
            return reaction::rearm;
        },
        [](bidi_watch&, fd_watch&) noexcept { return reaction::disarm; },
        [](bidi_watch&) noexcept { ++removals; });
    settle();
    const auto before = allocations();
    for (int i = 0; i != 300; ++i) {
        static_cast<void>(!::write(pair.second.get(), "x", 1));
        w.in().set_priority(static_cast<priority_level>(i % 64));
        w.out().set_priority(static_cast<priority_level>(63 - i % 64));
        w.out().arm();
        if (i % 10 == 5) {
            w.in().disarm();
        }
        w.in().arm();
        loop().poll();
    }
    w.remove();
    for (int i = 0; i != 10; ++i) {
        loop().poll();
    }
    EXPECT_EQ(allocations(), before);
    EXPECT_EQ(removals, 1);
}

TEST_P(WatchAllocation, HappensNotWithSignals) {
    const int rt = SIGRTMIN + 6;
    const blocked_signals blocked{{rt}};
    static int calls;
    calls = 0;
    signal_watch w(loop(), rt, [](signal_watch&, const signal_info& info) noexcept {
        ++calls;
        return info.int_value() % 3 == 0 ? reaction::requeue : reaction::rearm;
    });
    settle();
    ASSERT_TRUE(queue_signal(rt, 1));
    ASSERT_TRUE(until([&] { return calls == 1; }));
    const auto before = allocations();
    for (int i = 0; i != 300; ++i) {
        static_cast<void>(queue_signal(rt, 3 * i + 1));
        w.set_priority(static_cast<priority_level>(i % 64));
        if (i % 10 == 5) {
            w.disarm();
        }
        w.arm();
        loop().poll();
    }
    w.remove();
    for (int i = 0; i != 10; ++i) {
        loop().poll();
    }
    EXPECT_EQ(allocations(), before);
    EXPECT_GT(calls, 100);
}

class WatchProcessAllocation : public ProcessTest {};
EDDY_ON_EVERY_ENGINE(WatchProcessAllocation);

/// A child that stops and goes on, and ends in the end.
TEST_P(WatchProcessAllocation, HappensNotWithChildren) {
    const blocked_signals blocked{{SIGCHLD}};
    child_source source(loop());
    process_handle child = spawn(sleeper());
    static int changes;
    static int ends;
    changes = ends = 0;
    children_watch stops(source, child, [](children_watch&, const child_event&) noexcept {
        ++changes;
        return reaction::rearm;
    });
    child_watch end(loop(), child.share(), [](child_watch&, const exit_status&) noexcept {
        ++ends;
        return reaction::disarm;
    });
    const auto drive_until = [&](const auto& condition) {
        const time_point limit = clock::now() + patience;
        while (!condition() && clock::now() < limit) {
            loop().poll();
        }
        return condition();
    };
    ASSERT_FALSE(child.send_signal(SIGSTOP));
    ASSERT_TRUE(drive_until([&] { return changes == 1; }));
    const auto before = allocations();
    bool went_on = true;
    for (int i = 1; i != 20 && went_on; ++i) {
        static_cast<void>(child.send_signal(i % 2 != 0 ? SIGCONT : SIGSTOP));
        stops.set_priority(static_cast<priority_level>(i));
        end.set_priority(static_cast<priority_level>(i));
        end.disarm();
        end.arm();
        went_on = drive_until([&] { return changes == i + 1; });
    }
    static_cast<void>(child.send_signal(SIGKILL));
    went_on = went_on && drive_until([&] { return ends == 1; });
    stops.remove();
    end.remove();
    for (int i = 0; i != 10; ++i) {
        loop().poll();
    }
    EXPECT_EQ(allocations(), before);
    EXPECT_TRUE(went_on);
}

}  // namespace
}  // namespace eddy::test::allocation_test
