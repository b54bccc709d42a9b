// SPDX-License-Identifier: Apache-2.0
#include "support/engine_fixture.hpp"

#include "kernel/call.hpp"
#include "kernel/io.hpp"

namespace eddy::test {

void EngineTest::SetUp() {
    static_cast<void>(kernel::has_rwf_nosignal());
    fds_before_ = open_fds();
    if (GetParam() == engine_kind::io_uring) {
        try {
            static_cast<void>(loop());
        } catch (const std::system_error& e) {
            if (e.code() == errc::engine_denied || e.code() == errc::engine_not_built) {
                GTEST_SKIP() << e.what();
            }
            throw;
        }
    }
}

void EngineTest::TearDown() {
    kernel::fail_nothing();
    loop_.reset();
    EXPECT_EQ(open_fds(), fds_before_) << "descriptors leaked";
}

eddy::loop& EngineTest::loop() {
    if (loop_ == nullptr) {
        make_loop({});
    }
    return *loop_;
}

void EngineTest::make_loop(loop_options options) {
    options.engine = GetParam();
    loop_ = std::make_unique<eddy::loop>(options);
}

bool EngineTest::until(const std::function<bool()>& condition, duration limit) {
    timer watchdog(loop(), [](timer&) noexcept {});
    loop().post_after(limit, watchdog);
    loop().poll();  // so that the timer is armed
    while (!condition() && watchdog.armed()) {
        loop().run_some();
    }
    loop().disarm(watchdog);
    EXPECT_TRUE(condition()) << "it has not happened within the time";
    return condition();
}

bool EngineTest::until_driven(const std::function<bool()>& condition, duration limit) {
    const time_point deadline = clock::now() + limit;
    while (!condition()) {
        if (clock::now() > deadline) {
            ADD_FAILURE() << "it has not happened within the time";
            return false;
        }
        loop().poll();
    }
    return true;
}

std::uint64_t EngineTest::turns_in(duration time) {
    const std::uint64_t before = loop().counters().turns;
    loop().run_for(time);
    return loop().counters().turns - before;
}

void EngineTest::settle() {
    while (loop().poll() != 0) {}
}

}  // namespace eddy::test
