#include "loop/allocations.hpp"
#include "watch/test_watch.hpp"

namespace eddy::test {
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

}  // namespace
}  // namespace eddy::test
