// A program may be started with its standard streams closed.
#include "support/standard_fds.hpp"
#include "loop/work.hpp"
#include "support/engine_fixture.hpp"
#include "support/in_child.hpp"

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

}  // namespace
}  // namespace eddy::test::standard_fds_test
