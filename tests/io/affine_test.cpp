// SPDX-License-Identifier: Apache-2.0
// Senders for coroutines that go on where they were started.
#include <eddy/io/bytes.hpp>
#include <eddy/io/detail/sender/affine.hpp>
#include <eddy/io/pipe.hpp>
#include <eddy/io/run.hpp>

#include <eddy/ex/env.hpp>
#include <eddy/ex/then.hpp>
#include <eddy/ex/write_env.hpp>

#include <eddy/loop/loop_group.hpp>

#include "async/running.hpp"
#include "support/engine_fixture.hpp"
#include "support/fds.hpp"

#include <array>

namespace eddy::test::affine_test {
namespace {

/// A loop here, and others that run elsewhere.
class Affine : public EngineTest {
protected:
    void SetUp() override {
        EngineTest::SetUp();
        if (!IsSkipped()) {
            others_ = std::make_unique<loop_group>(
                loop_group_options{.size = 2, .loop = {.engine = GetParam()}});
        }
    }
    void TearDown() override {
        others_.reset();
        EngineTest::TearDown();
    }

    /// Whether what `sender` leads to runs on this test's loop.
    template <class Sender>
    bool comes_home(Sender sender) {
        class loop* where = nullptr;
        const auto note = [&](auto&&...) noexcept { where = loop::current(); };
        EXPECT_TRUE(loop().run(std::move(sender).affine() | ex::then(note)).has_value());
        return where == &loop();
    }
    loop_group& others() { return *others_; }

private:
    std::unique_ptr<loop_group> others_;
};
EDDY_ON_EVERY_ENGINE(Affine);

TEST_P(Affine, ComesHomeFromAnotherLoop) {
    auto [reader, writer] = make_pipe(others().at(0));
    write_all(writer.native_handle(), "xy");
    others().start();
    std::array<std::byte, 1> byte{};
    EXPECT_TRUE(comes_home(reader.read_some(byte)));
    EXPECT_TRUE(comes_home(others().get_scheduler().schedule()));
    EXPECT_TRUE(comes_home(others().get_scheduler().schedule_after(1us)));
    others().stop();
    others().join();
}

TEST_P(Affine, AStopOnTheWayHomeLosesNothing) {
    class loop other({.engine = GetParam()});
    auto [reader, writer] = make_pipe(other);
    write_all(writer.native_handle(), "x");
    std::array<std::byte, 1> byte{};
    running read(ex::write_env(reader.read_some(byte).affine(),
                               ex::prop(ex::get_start_scheduler, loop().get_scheduler())));
    read.start();
    for (int i = 0; i != 10'000 && bytes_waiting(reader.native_handle()) != 0; ++i) {
        other.run_for(1ms);
    }
    read.source.request_stop();
    ASSERT_TRUE(until([&] { return read.seen.ended(); }));
    EXPECT_EQ(read.seen.how, ending::value);
}

TEST_P(Affine, DoesNotHopOnItsOwnLoop) {
    auto [reader, writer] = make_pipe(loop());
    write_all(writer.native_handle(), "xy");
    std::array<std::byte, 1> byte{};
    const auto posts_of = [&](auto run) {
        const auto before = loop().counters().posts;
        run();
        return loop().counters().posts - before;
    };
    const auto plain = posts_of([&] { EXPECT_TRUE(loop().run(reader.read_some(byte))); });
    EXPECT_EQ(posts_of([&] { EXPECT_TRUE(comes_home(reader.read_some(byte))); }), plain);
}

}  // namespace
}  // namespace eddy::test::affine_test
