#include "support.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>

namespace eddy::ex_testing::exec_sched {

using scheduler = decltype(std::declval<ex::run_loop&>().get_scheduler());
static_assert(ex::scheduler<scheduler>);
static_assert(ex::scheduler<ex::inline_scheduler>);
static_assert(!ex::scheduler<int>);
static_assert(ex::sender<ex::schedule_result_t<scheduler>>);
static_assert(sends<ex::schedule_result_t<scheduler>, ex::set_value_t()>);
static_assert(sends_in<ex::schedule_result_t<scheduler>, stoppable_env, ex::set_value_t(),
                       ex::set_stopped_t()>);
static_assert(sends<ex::schedule_result_t<ex::inline_scheduler>, ex::set_value_t()>);

/// A thread with a loop of its own.
class other_thread {
public:
    other_thread() : thread_([this] { loop_.run(); }) {}
    ~other_thread() {
        loop_.finish();
        thread_.join();
    }
    auto get_scheduler() noexcept { return loop_.get_scheduler(); }
    std::thread::id id() const noexcept { return thread_.get_id(); }

private:
    ex::run_loop loop_;
    std::thread thread_;
};

constexpr auto here = [] { return std::this_thread::get_id(); };

TEST(ExecRunLoop, WorkRunsInOrderInsideRun) {
    ex::run_loop loop;
    std::string order;
    outcome seen;
    const auto append = [&](char letter) {
        return ex::schedule(loop.get_scheduler()) | ex::then([&, letter] { order += letter; });
    };
    auto first = ex::connect(append('a'), probe<>{&seen});
    auto second = ex::connect(append('b'), probe<>{&seen});
    ex::start(first);
    ex::start(second);
    EXPECT_EQ(order, "");
    loop.finish();
    loop.run();
    EXPECT_EQ(order, "ab");
}

TEST(ExecRunLoop, WorkThatIsStoppedDoesNotRun) {
    ex::run_loop loop;
    ex::inplace_stop_source source;
    outcome seen;
    auto operation = ex::connect(ex::schedule(loop.get_scheduler()),
                                 probe<stoppable_env>{&seen, {{}, source.get_token()}});
    ex::start(operation);
    source.request_stop();
    EXPECT_EQ(seen.channel, "none");
    loop.finish();
    loop.run();
    EXPECT_EQ(seen.channel, "stopped");
}

TEST(ExecRunLoop, SchedulersAreEqualIfTheirLoopIs) {
    ex::run_loop loop;
    ex::run_loop other;
    EXPECT_TRUE(loop.get_scheduler() == loop.get_scheduler());
    EXPECT_FALSE(loop.get_scheduler() == other.get_scheduler());
    EXPECT_TRUE(ex::get_completion_scheduler<ex::set_value_t>(
                    ex::get_env(ex::schedule(loop.get_scheduler()))) == loop.get_scheduler());
}

TEST(ExecInlineScheduler, CompletesInsideStart) {
    EXPECT_EQ(run(ex::schedule(ex::inline_scheduler{})).channel, "value");
    EXPECT_TRUE(ex::inline_scheduler{} == ex::inline_scheduler{});
}

TEST(ExecStartsOn, TheSenderRunsThere) {
    other_thread thread;
    auto [id] =
        ex::sync_wait(ex::starts_on(thread.get_scheduler(), ex::just() | ex::then(here))).value();
    EXPECT_EQ(id, thread.id());
}

TEST(ExecStartsOn, TheSenderIsToldWhereItWasStarted) {
    other_thread thread;
    auto [there] =
        ex::sync_wait(ex::starts_on(thread.get_scheduler(), ex::read_env(ex::get_start_scheduler)) |
                      ex::then([&](auto s) { return s == thread.get_scheduler(); }))
            .value();
    EXPECT_TRUE(there);
}

TEST(ExecContinuesOn, TheCompletionArrivesThere) {
    other_thread thread;
    auto [before, value, after] =
        ex::sync_wait(ex::just(5) | ex::then([](int number) {
                          return std::pair(std::this_thread::get_id(), number);
                      }) |
                      ex::continues_on(thread.get_scheduler()) | ex::let_value([](auto& pair) {
                          return ex::just(pair.first, pair.second, std::this_thread::get_id());
                      }))
            .value();
    EXPECT_EQ(before, std::this_thread::get_id());
    EXPECT_EQ(value, 5);
    EXPECT_EQ(after, thread.id());
}

TEST(ExecContinuesOn, ErrorsAndStopsArriveThereToo) {
    other_thread thread;
    auto [error] = ex::sync_wait(ex::just_error(1) | ex::continues_on(thread.get_scheduler()) |
                                 ex::upon_error([](auto&&) { return here(); }))
                       .value();
    EXPECT_EQ(error, thread.id());
    auto [stop] = ex::sync_wait(ex::just_stopped() | ex::continues_on(thread.get_scheduler()) |
                                ex::upon_stopped(here))
                      .value();
    EXPECT_EQ(stop, thread.id());
}

static_assert(sends_in<decltype(ex::continues_on(ex::just(1), std::declval<scheduler>())),
                       stoppable_env, ex::set_value_t(int), ex::set_stopped_t()>);
static_assert(sends<decltype(ex::continues_on(ex::just(fragile(1, 1)), std::declval<scheduler>())),
                    ex::set_value_t(fragile), ex::set_error_t(std::exception_ptr)>);

TEST(ExecContinuesOn, SaysWhereItCompletes) {
    ex::run_loop loop;
    const auto sender = ex::continues_on(ex::just(), loop.get_scheduler());
    EXPECT_TRUE(ex::get_completion_scheduler<ex::set_value_t>(ex::get_env(sender)) ==
                loop.get_scheduler());
}

TEST(ExecOn, RunsThereAndComesBack) {
    other_thread thread;
    auto [there, back] = ex::sync_wait(ex::on(thread.get_scheduler(), ex::just() | ex::then(here)) |
                                       ex::let_value([](auto& id) { return ex::just(id, here()); }))
                             .value();
    EXPECT_EQ(there, thread.id());
    EXPECT_EQ(back, std::this_thread::get_id());
}

TEST(ExecOn, APartOfAChainRunsThereAndComesBack) {
    other_thread thread;
    auto [number, there, back] =
        ex::sync_wait(
            ex::just(3) | ex::on(thread.get_scheduler(), ex::then([](int value) {
                                     return std::pair(value, here());
                                 })) |
            ex::let_value([](auto& pair) { return ex::just(pair.first, pair.second, here()); }))
            .value();
    EXPECT_EQ(number, 3);
    EXPECT_EQ(there, thread.id());
    EXPECT_EQ(back, std::this_thread::get_id());
}

TEST(ExecSyncWait, GivesTheValuesOrNothingOrThrows) {
    EXPECT_EQ(std::get<0>(ex::sync_wait(ex::just(1)).value()), 1);
    EXPECT_TRUE(ex::sync_wait(ex::just()).has_value());
    manual_event event;
    ex::inplace_stop_source source;
    source.request_stop();
    EXPECT_FALSE(ex::sync_wait(
        ex::write_env(event.wait(), ex::prop{ex::get_stop_token, source.get_token()})));
    EXPECT_THROW(ex::sync_wait(ex::just() | ex::then([] { throw std::runtime_error("no"); })),
                 std::runtime_error);
}

/// Sends an error, although it might send a value.
template <class Error>
struct failing {
    using sender_concept = ex::sender_tag;
    Error error;
    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<ex::set_value_t(), ex::set_error_t(Error)>{};
    }
    template <class Receiver>
    struct operation {
        using operation_state_concept = ex::operation_state_tag;
        Receiver receiver;
        Error error;
        void start() & noexcept { ex::set_error(std::move(receiver), std::move(error)); }
    };
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const noexcept {
        return operation<Receiver>{std::move(receiver), error};
    }
};

TEST(ExecSyncWait, ErrorsAreThrownAsWhatTheyMean) {
    EXPECT_THROW(ex::sync_wait(failing<int>{3}), int);
    try {
        ex::sync_wait(failing<std::error_code>{std::make_error_code(std::errc::io_error)});
        FAIL();
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), std::errc::io_error);
    }
    EXPECT_THROW(
        ex::sync_wait(failing<std::exception_ptr>{std::make_exception_ptr(std::logic_error("no"))}),
        std::logic_error);
}

TEST(ExecSyncWait, ItsEnvironmentHasALoopToRunOn) {
    auto [id] = ex::sync_wait(ex::read_env(ex::get_scheduler) | ex::let_value([](auto& found) {
                                  return ex::schedule(found) | ex::then(here);
                              }))
                    .value();
    EXPECT_EQ(id, std::this_thread::get_id());
    auto [same] = ex::sync_wait(ex::when_all(ex::read_env(ex::get_delegation_scheduler),
                                             ex::read_env(ex::get_start_scheduler)) |
                                ex::then([](auto a, auto b) { return a == b; }))
                      .value();
    EXPECT_TRUE(same);
}

TEST(ExecSyncWait, ACompletionOnAnotherThreadRacesItsReturn) {
    other_thread thread;
    for (int round = 0; round < 1000; ++round) {
        auto [number] =
            ex::sync_wait(ex::schedule(thread.get_scheduler()) | ex::then([=] { return round; }))
                .value();
        ASSERT_EQ(number, round);
    }
}

}  // namespace eddy::ex_testing::exec_sched
