// SPDX-License-Identifier: Apache-2.0
// Coroutines of the vocabulary itself, which do not know eddy: only stdexec has one so far.

#if defined(EDDY_EXECUTION_STDEXEC)

#include <eddy/io/bytes.hpp>
#include <eddy/io/pipe.hpp>
#include <eddy/io/run.hpp>
#include <eddy/loop/loop_group.hpp>

#include <gtest/gtest.h>

#include "support/engine_fixture.hpp"
#include "support/fds.hpp"

#include <array>

namespace eddy::test::foreign_task_test {
namespace {

using namespace eddy;

struct on_a_loop {
    using start_scheduler_type = loop_scheduler;
};
using foreign_task = stdexec::task<void, on_a_loop>;

class ForeignTask : public eddy::test::EngineTest {};
EDDY_ON_EVERY_ENGINE(ForeignTask);

TEST_P(ForeignTask, DoesNotHopWhenOurSendersCompleteOnItsLoop) {
    auto& home = loop();
    auto [reader, writer] = make_pipe(home);
    const auto talk = [](stream& in, stream& out) -> foreign_task {
        std::array<std::byte, 4> data{};
        for (int i = 0; i != 1000; ++i) {
            co_await out.write(data);
            co_await in.read_some(data);
        }
    };
    const auto before = home.counters().posts;
    ASSERT_TRUE(home.run(talk(reader, writer)).has_value());
    EXPECT_LE(home.counters().posts - before, 10U) << "posts for 2,000 awaits";
}

TEST_P(ForeignTask, ComesHomeFromAnotherLoop) {
    loop_group others({.size = 1, .loop = {.engine = GetParam()}});
    auto [reader, writer] = make_pipe(others.at(0));
    test::write_all(writer.native_handle(), "x");
    others.start();
    int away = 0;
    const auto talk = [&away](eddy::loop& home, loop_group& group, stream& in) -> foreign_task {
        std::array<std::byte, 1> data{};
        co_await in.read_some(data);
        away += loop::current() != &home ? 1 : 0;
        co_await group.get_scheduler().schedule();
        away += loop::current() != &home ? 1 : 0;
    };
    ASSERT_TRUE(loop().run(talk(loop(), others, reader)).has_value());
    others.stop();
    others.join();
    EXPECT_EQ(away, 0);
}

}  // namespace
}  // namespace eddy::test::foreign_task_test

#endif
