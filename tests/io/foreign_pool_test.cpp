// SPDX-License-Identifier: Apache-2.0
// Senders of stdexec, on threads that do not know eddy, together with ours.

#if defined(EDDY_EXECUTION_STDEXEC)

#include <eddy/ex/execution.hpp>
#include <eddy/io/bytes.hpp>
#include <eddy/io/pipe.hpp>
#include <eddy/io/run.hpp>

#include <exec/static_thread_pool.hpp>

#include <gtest/gtest.h>

#include "support/engine_fixture.hpp"
#include "support/fds.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <thread>
#include <tuple>
#include <utility>

namespace eddy::test::foreign_pool_test {
namespace {

using namespace eddy;

class ForeignPool : public eddy::test::EngineTest {
protected:
    bool is_home() { return loop::current() == &loop(); }
    /// `sender`, stopped by `source` as well as by what stops the loop's run.
    template <class Sender>
    auto with_stop(Sender sender, ex::inplace_stop_source& source) {
        return ex::write_env(std::move(sender), ex::prop{ex::get_stop_token, source.get_token()});
    }

    exec::static_thread_pool pool_{2};
};
EDDY_ON_EVERY_ENGINE(ForeignPool);

TEST_P(ForeignPool, AChainGoesThereAndComesHome) {
    int at_home = 0;
    const auto count = [&] { at_home += is_home() ? 1 : 0; };
    auto chain = loop().get_scheduler().schedule() | stdexec::then(count) |
                 stdexec::continues_on(pool_.get_scheduler()) | stdexec::then([&] {
                     at_home += is_home() ? 100 : 0;
                     return std::this_thread::get_id();
                 }) |
                 ex::continues_on(loop().get_scheduler()) | ex::then([&](std::thread::id there) {
                     count();
                     return there != std::this_thread::get_id();
                 });
    const auto result = loop().run(std::move(chain));
    ASSERT_TRUE(result.has_value());
    EXPECT_TRUE(std::get<0>(*result));
    EXPECT_EQ(at_home, 2);
}

TEST_P(ForeignPool, OnComesHomeToTheLoop) {
    auto there = stdexec::on(pool_.get_scheduler(),
                             stdexec::just() | stdexec::then([this] { return is_home(); }));
    auto both = std::move(there) | ex::then([this](bool away) { return !away && is_home(); });
    const auto result = loop().run(std::move(both));
    ASSERT_TRUE(result.has_value());
    EXPECT_TRUE(std::get<0>(*result));
}

TEST_P(ForeignPool, AReadOfOursIsStartedByThePoolAndFedByIt) {
    auto [reader, writer] = make_pipe(loop());
    std::array<std::byte, 1> data{};
    auto feed = stdexec::schedule(pool_.get_scheduler()) |
                stdexec::then([&] { test::write_all(writer.native_handle(), "x"); });
    auto both = stdexec::when_all(reader.read_some(data), std::move(feed));
    ASSERT_TRUE(loop().run(std::move(both)).has_value());
    EXPECT_EQ(data[0], std::byte{'x'});
}

TEST_P(ForeignPool, AStopFromAThreadOfNeitherEndsAllOfIt) {
    auto [reader, writer] = make_pipe(loop());
    std::array<std::byte, 1> data{};
    ex::inplace_stop_source source;
    std::atomic<bool> waiting{false};
    auto in_the_pool = stdexec::schedule(pool_.get_scheduler()) | stdexec::then([&] {
                           waiting = true;
                           waiting.notify_all();
                       });
    auto all = ex::when_all(reader.read_some(data), std::move(in_the_pool),
                            loop().get_scheduler().schedule_after(std::chrono::hours(1)));
    std::thread stopper([&] {
        waiting.wait(false);
        source.request_stop();
    });
    EXPECT_FALSE(loop().run(with_stop(std::move(all), source)).has_value());
    stopper.join();
}

/// In a chain: a stop that reaches when_all of stdexec just when its last child has completed may
/// complete it twice, because its stop callback counts as a child.
TEST_P(ForeignPool, AStopRacesWhatThePoolAndTheLoopDo) {
    auto [reader, writer] = make_pipe(loop());
    std::array<std::byte, 1> data{};
    for (int round = 0; round != 300; ++round) {
        ex::inplace_stop_source source;
        std::atomic<int> written{0};
        int read = 0;
        auto chain = stdexec::schedule(pool_.get_scheduler()) | stdexec::then([&] {
                         test::write_all(writer.native_handle(), "x");
                         ++written;
                     }) |
                     stdexec::continues_on(loop().get_scheduler()) |
                     stdexec::let_value([&] { return reader.read_some(data); }) |
                     ex::then([&](auto) { ++read; });
        std::thread stopper([&] { source.request_stop(); });
        const bool whole = loop().run(with_stop(std::move(chain), source)).has_value();
        const int wrote = written.load();
        stopper.join();
        if (whole) {
            EXPECT_EQ(read, 1);
        }
        ASSERT_EQ(written.load(), wrote) << "the pool went on after the whole had ended";
        ASSERT_LE(read, wrote);
        if (wrote != read) {
            ASSERT_TRUE(loop().run(reader.read_some(data)).has_value());
        }
    }
}

TEST_P(ForeignPool, AScopeHoldsWorkOfBothUntilItIsStopped) {
    auto [reader, writer] = make_pipe(loop());
    std::array<std::byte, 1> data{};
    stdexec::counting_scope scope;
    std::atomic<int> ended{0};
    const auto note = [&] { ++ended; };
    const auto quiet = [&](auto sender) {
        return std::move(sender) | ex::then([](auto&&...) noexcept {}) |
               ex::upon_error([](auto&&) noexcept {}) |
               ex::upon_stopped([&note]() noexcept { note(); });
    };
    ex::spawn(quiet(ex::starts_on(loop().get_scheduler(), reader.read_some(data))),
              scope.get_token());
    ex::spawn(quiet(loop().get_scheduler().schedule_after(std::chrono::hours(1))),
              scope.get_token());
    ex::spawn(stdexec::schedule(pool_.get_scheduler()) | stdexec::then([&]() noexcept {
                  scope.request_stop();
              }) | stdexec::upon_stopped([]() noexcept {}),
              scope.get_token());
    ASSERT_TRUE(loop().run(scope.join()).has_value());
    EXPECT_EQ(ended.load(), 2);
}

}  // namespace
}  // namespace eddy::test::foreign_pool_test

#endif
