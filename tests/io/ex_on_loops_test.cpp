// SPDX-License-Identifier: Apache-2.0
// What is `ex`'s, with the schedulers and the senders of loops.
#include "io/io_fixture.hpp"

#include <eddy/io/file.hpp>
#include <eddy/io/loop_scheduler.hpp>
#include <eddy/io/stream.hpp>
#include <eddy/loop/loop_group.hpp>

#include <atomic>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace eddy::test::ex_on_loops_test {
namespace {

/// The loop of the test, and another one that runs on a thread of its own.
class ExOnLoops : public IoTest {
protected:
    void SetUp() override {
        IoTest::SetUp();
        if (!IsSkipped()) {
            group_.emplace(loop_group_options{.size = 1, .loop = {.engine = GetParam()}});
            group_->start();
        }
    }
    void TearDown() override {
        group_.reset();
        IoTest::TearDown();
    }
    loop_scheduler home() { return loop().get_scheduler(); }
    loop_scheduler there() { return group_->at(0).get_scheduler(); }
    eddy::loop* other() { return &group_->at(0); }
    /// The loop that it is called on.
    static auto where() {
        return ex::then([]() noexcept { return eddy::loop::current(); });
    }

private:
    std::optional<loop_group> group_;
};
EDDY_ON_EVERY_ENGINE(ExOnLoops);

TEST_P(ExOnLoops, StartsOnTheLoopOfTheScheduler) {
    EXPECT_EQ(run(ex::starts_on(there(), ex::just() | where())), other());
    EXPECT_EQ(run(ex::starts_on(home(), ex::just() | where())), &loop());
}

TEST_P(ExOnLoops, ContinuesOnTheLoopOfTheScheduler) {
    EXPECT_EQ(run(ex::just() | ex::continues_on(there()) | where()), other());
    EXPECT_EQ(run(there().schedule() | ex::continues_on(home()) | where()), &loop());
}

TEST_P(ExOnLoops, OnComesBackWithTheResult) {
    const auto both = run(ex::on(there(), ex::just() | where()) | ex::then([](eddy::loop* inside) {
                              return std::pair(inside, eddy::loop::current());
                          }));
    EXPECT_EQ(both.first, other());
    EXPECT_EQ(both.second, &loop());
}

TEST_P(ExOnLoops, OnComesBackWithAnErrorAndWithAStop) {
    const auto code = std::make_error_code(std::errc::io_error);
    EXPECT_EQ(
        error_of(ex::on(there(), ex::just_error(code) | ex::let_value([] { return ex::just(); }))),
        std::errc::io_error);
    eddy::loop* where_stopped = nullptr;
    run(ex::on(there(), ex::just_stopped()) |
        ex::upon_stopped([&] { where_stopped = eddy::loop::current(); }));
    EXPECT_EQ(where_stopped, &loop());
}

TEST_P(ExOnLoops, WhenAllWaitsForBytesAndForATimerOfAnotherLoop) {
    fd_pair pipe = make_pipe();
    const stream in(loop(), std::move(pipe.first));
    const stream out(loop(), std::move(pipe.second));
    char buffer[8];
    const auto values = loop()
                            .run(ex::when_all(in.read(bytes(buffer).first(5)),
                                              there().schedule_after(1ms) | where(),
                                              home().schedule_after(1ms) | ex::let_value([&] {
                                                  return out.write(bytes("hello"));
                                              })))
                            .value();
    EXPECT_EQ(std::get<0>(values), 5U);
    EXPECT_EQ(std::get<1>(values), other());
    EXPECT_EQ(std::get<2>(values), 5U);
    EXPECT_EQ(std::string(buffer, 5), "hello");
}

TEST_P(ExOnLoops, WhenAllStopsAReadWhenAnotherFails) {
    fd_pair pipe = make_pipe();
    const stream in(loop(), std::move(pipe.first));
    char buffer[8];
    const auto code = std::make_error_code(std::errc::io_error);
    EXPECT_EQ(error_of(ex::when_all(in.read_some(bytes(buffer)), ex::just_error(code))),
              std::errc::io_error);
    EXPECT_TRUE(loop().empty());
}

TEST_P(ExOnLoops, SyncWaitHasAResultOfALoopThatRunsElsewhere) {
    EXPECT_EQ(std::get<0>(ex::sync_wait(there().schedule_after(1ms) | where()).value()), other());
    // The file ends where it arrives: on its loop's thread.
    const auto opened =
        ex::sync_wait(file::open(*other(), "/dev/null", O_RDWR) | ex::then([](file made) noexcept {
                          return made.home() == eddy::loop::current();
                      }));
    EXPECT_TRUE(std::get<0>(opened.value()));
}

template <class Scope>
void spawn_a_hundred(loop_scheduler on, eddy::loop* expected, std::atomic<int>& ran, Scope& scope) {
    for (int i = 0; i != 100; ++i) {
        ex::spawn(on.schedule() | ex::then([&ran, expected]() noexcept {
                      ran += eddy::loop::current() == expected ? 1 : 0;
                  }),
                  scope.get_token());
    }
}

TEST_P(ExOnLoops, AScopeIsJoinedWhenAllThatWasSpawnedHasEnded) {
    std::atomic<int> ran = 0;
    ex::simple_counting_scope simple;
    spawn_a_hundred(there(), other(), ran, simple);
    run(simple.join());
    EXPECT_EQ(ran, 100);
    ex::counting_scope scope;
    spawn_a_hundred(home(), &loop(), ran, scope);
    run(scope.join());
    EXPECT_EQ(ran, 200);
}

TEST_P(ExOnLoops, AScopeThatIsStoppedStopsATimerAndARead) {
    fd_pair pipe = make_pipe();
    const stream in(loop(), std::move(pipe.first));
    char buffer[8];
    int stopped = 0;
    const auto count = [&]() noexcept { ++stopped; };
    const auto fail = [](auto&&...) noexcept { ADD_FAILURE(); };
    ex::counting_scope scope;
    ex::spawn(home().schedule_after(1h) | ex::then(fail) | ex::upon_stopped(count),
              scope.get_token());
    ex::spawn(in.read_some(bytes(buffer)) | ex::then(fail) | ex::upon_error(fail) |
                  ex::upon_stopped(count),
              scope.get_token());
    settle();
    scope.request_stop();
    run(scope.join());
    EXPECT_EQ(stopped, 2);
}

TEST_P(ExOnLoops, AFutureGivesWhatWasReadBeforeItWasAskedAndAfter) {
    fd_pair pipe = make_pipe();
    const stream in(loop(), std::move(pipe.first));
    char buffer[8];
    ex::counting_scope scope;
    auto early = ex::spawn_future(in.read_some(bytes(buffer)), scope.get_token());
    write_all(pipe.second.get(), "abc");
    settle();
    EXPECT_EQ(run(std::move(early)), 3U);
    auto late = ex::spawn_future(there().schedule_after(1ms) | where(), scope.get_token());
    EXPECT_EQ(run(std::move(late)), other());
    run(scope.join());
}

TEST_P(ExOnLoops, WhatIsAssociatedRunsWhileTheScopeIsOpen) {
    ex::simple_counting_scope scope;
    EXPECT_EQ(run(ex::associate(there().schedule() | where(), scope.get_token())), other());
    run(scope.join());
    started refused(loop(), ex::associate(home().schedule(), scope.get_token()));
    ASSERT_TRUE(ends(refused));
    EXPECT_TRUE(refused.stopped());
}

}  // namespace
}  // namespace eddy::test::ex_on_loops_test
