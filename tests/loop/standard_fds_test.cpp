// A program may be started with its standard streams closed.
#include "loop/work.hpp"
#include "support/engine_fixture.hpp"
#include "support/in_child.hpp"

#include <algorithm>

#include <fcntl.h>
#include <unistd.h>

namespace eddy::test {
namespace {

constexpr int standard[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};

bool are_free() {
    return std::ranges::all_of(standard, [](int fd) { return ::fcntl(fd, F_GETFD) < 0; });
}

using StandardFds = EngineTest;
EDDY_ON_EVERY_ENGINE(StandardFds);

TEST_P(StandardFds, AreNotTakenByALoop) {
    const int ended = in_child([] {
        std::ranges::for_each(standard, [](int fd) { ::close(fd); });
        eddy::loop fresh({.engine = GetParam()});
        if (!are_free()) {
            return 1;
        }
        bool called = false;
        fresh.post([&] { called = true; });
        fresh.poll();
        if (!called || !are_free()) {
            return 2;
        }
        if (GetParam() != engine_kind::poll) {
            static_cast<void>(fresh.native_handle());
        }
        return are_free() ? 0 : 3;
    });
    EXPECT_EQ(ended, 0);
}

}  // namespace
}  // namespace eddy::test
