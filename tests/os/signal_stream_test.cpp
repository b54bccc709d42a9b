// SPDX-License-Identifier: Apache-2.0
#include "loop/allocations.hpp"
#include "os/signal_fixture.hpp"

#include <atomic>
#include <thread>

namespace eddy::test::signal_stream_test {
namespace {

/// Real-time signals that another thread sends as fast as the kernel takes them.
class SignalStream : public SignalTest {
protected:
    /// Waits for the next one, always.
    struct receiver {
        signal_source& source;
        int count;
        int next = 0;
        int wrong = 0;
        signal_wait wait{[](signal_wait& w) noexcept {
            auto& self = detail::owner_of<&receiver::wait>(w);
            self.wrong += w.error() || w.info().int_value() != self.next ? 1 : 0;
            if (++self.next != self.count) {
                self.start();
            } else {
                self.source.home().stop();
            }
        }};
        void start() noexcept { wrong += source.wait(wait, rt) ? 1 : 0; }
    };

    void stream(int count) {
        signal_source source(loop(), {rt});
        std::thread sender([&] {
            const time_point limit = clock::now() + 100s;
            for (int i = 0; i != count && clock::now() < limit; ++i) {
                while (!queue_signal(rt, i) && clock::now() < limit) {
                    std::this_thread::yield();
                }
            }
        });
        receiver to{source, count};
        to.start();
        loop().run_for(1ms);
        const std::uint64_t before = allocations();
        loop().run_for(100s);
        EXPECT_EQ(allocations(), before);
        sender.join();
        EXPECT_EQ(to.next, count);
        EXPECT_EQ(to.wrong, 0);
        EXPECT_FALSE(is_pending(rt));
    }
};
EDDY_ON_EVERY_ENGINE(SignalStream);

TEST_P(SignalStream, DeliversEachOnceInOrderWithoutAllocating) { stream(20'000); }

class LongSignalStream : public SignalStream {};
EDDY_ON_EVERY_ENGINE(LongSignalStream);

TEST_P(LongSignalStream, DeliversAMillionEachOnceInOrderWithoutAllocating) { stream(1'000'000); }

}  // namespace
}  // namespace eddy::test::signal_stream_test
