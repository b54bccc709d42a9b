// SPDX-License-Identifier: Apache-2.0
// A program may be started with its standard streams closed.
#include "support/standard_fds.hpp"
#include "loop/host.hpp"
#include "loop/work.hpp"
#include "support/engine_fixture.hpp"
#include "support/in_child.hpp"

#include <eddy/loop/embedding.hpp>

#include <atomic>

namespace eddy::test::standard_fds_test {
namespace {

using StandardFds = EngineTest;
EDDY_ON_EVERY_ENGINE(StandardFds);

TEST_P(StandardFds, AreNotTakenByALoop) {
    const int ended = in_child([] {
        close_standard_fds();
        eddy::loop fresh({.engine = GetParam()});
        if (!standard_fds_are_free()) {
            return 1;
        }
        bool called = false;
        fresh.post([&] { called = true; });
        fresh.poll();
        if (!called || !standard_fds_are_free()) {
            return 2;
        }
        if (GetParam() != engine_kind::poll) {
            static_cast<void>(fresh.native_handle());
        }
        return standard_fds_are_free() ? 0 : 3;
    });
    EXPECT_EQ(ended, 0);
}

TEST_P(StandardFds, AreNotTakenByTimersOfEitherClock) {
    const int ended = in_child([] {
        close_standard_fds();
        eddy::loop fresh({.engine = GetParam()});
        alarm steady(fresh);
        alarm of_day(fresh, {}, {}, timer_clock::system);
        fresh.post_after(1ms, steady);
        fresh.post_at(std::chrono::system_clock::now() + 1ms, of_day);
        if (!standard_fds_are_free()) {
            return 1;
        }
        fresh.run(run_mode::empty);
        if (steady.runs != 1 || of_day.runs != 1) {
            return 2;
        }
        return standard_fds_are_free() ? 0 : 3;
    });
    EXPECT_EQ(ended, 0);
}

TEST_P(StandardFds, AreNotTakenByThreadsOfALoopGroup) {
    const int ended = in_child([] {
        close_standard_fds();
        loop_group group({.size = 2, .loop = {.engine = GetParam()}});
        if (!standard_fds_are_free()) {
            return 1;
        }
        group.start();
        std::atomic<int> runs{0};
        for (std::size_t i = 0; i != group.size(); ++i) {
            group.at(i).post([&] { runs += standard_fds_are_free() ? 1 : 0; });
        }
        group.stop();
        group.join();
        return runs == 2 && standard_fds_are_free() ? 0 : 2;
    });
    EXPECT_EQ(ended, 0);
}

using EmbeddedStandardFds = StandardFds;
INSTANTIATE_TEST_SUITE_P(Engine, EmbeddedStandardFds,
                         ::testing::Values(engine_kind::epoll, engine_kind::io_uring), engine_name);

TEST_P(EmbeddedStandardFds, AreNotTakenByAnEmbedding) {
    const int ended = in_child([] {
        close_standard_fds();
        eddy::loop fresh({.engine = GetParam()});
        embedding inner(fresh);
        if (!standard_fds_are_free() || inner.handle() < 3) {
            return 1;
        }
        bare_host host(inner);
        alarm ring(fresh);
        fresh.post_after(1ms, ring);
        if (!host.until([&] { return ring.runs == 1; })) {
            return 2;
        }
        return standard_fds_are_free() ? 0 : 3;
    });
    EXPECT_EQ(ended, 0);
}

}  // namespace
}  // namespace eddy::test::standard_fds_test
