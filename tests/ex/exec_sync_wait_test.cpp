// SPDX-License-Identifier: Apache-2.0
#include "other_thread.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <system_error>

namespace eddy::ex_testing::exec_sync_wait {

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

}  // namespace eddy::ex_testing::exec_sync_wait
