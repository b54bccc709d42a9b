// SPDX-License-Identifier: Apache-2.0
#include "support/pollset_fixture.hpp"
#include "support/random.hpp"

#include <eddy/ex/execution.hpp>
#include <eddy/pollset/sender.hpp>

#include <array>
#include <stop_token>
#include <thread>

#include <sys/socket.h>
#include <unistd.h>

namespace eddy::test::pollset_sender_test {
namespace {

/// How a sender ended.
struct ending {
    std::atomic<int> values{0};
    std::atomic<int> errors{0};
    std::atomic<int> stops{0};
    std::error_code error;
    int total() const { return values + errors + stops; }
};

struct ending_receiver {
    using receiver_concept = ex::receiver_tag;

    ending* to;
    ex::inplace_stop_token token;

    void set_value() noexcept { ++to->values; }
    void set_error(std::error_code error) noexcept {
        to->error = error;
        ++to->errors;
    }
    void set_stopped() noexcept { ++to->stops; }
    auto get_env() const noexcept { return ex::prop(ex::get_stop_token, token); }
};

class PollsetSender : public PollsetTest {
protected:
    void SetUp() override {
        PollsetTest::SetUp();
        auto [read, write] = make_pipe();
        write_ = std::move(write);
        handle_.emplace(domain(), std::move(read));
        set_.emplace(domain());
        ASSERT_FALSE(set_->add(**handle_));
    }
    void TearDown() override {
        handle_.reset();
        set_.reset();
        write_.reset();
        PollsetTest::TearDown();
    }

    poll_handle& handle() { return **handle_; }
    pollset& set() { return *set_; }
    void write() { write_all(write_.get(), "x"); }

private:
    unique_fd write_;
    std::optional<held_handle> handle_;
    std::optional<pollset> set_;
};

TEST_P(PollsetSender, CompletesWithTheEvent) {
    ending end;
    auto op = ex::connect(readable(handle()), ending_receiver{&end, {}});
    ex::start(op);
    EXPECT_EQ(*set().try_work(), work_end::timed_out);
    EXPECT_EQ(end.total(), 0);
    write();
    EXPECT_TRUE(until(set(), [&] { return end.values == 1; }));
    EXPECT_EQ(end.total(), 1);
}

TEST_P(PollsetSender, AStopTakesBackThisWaitAlone) {
    ending reading;
    ending failing;
    ex::inplace_stop_source source;
    auto read = ex::connect(readable(handle()), ending_receiver{&reading, source.get_token()});
    auto fail = ex::connect(errored(handle()), ending_receiver{&failing, {}});
    ex::start(read);
    ex::start(fail);
    source.request_stop();
    EXPECT_EQ(reading.stops, 1);
    EXPECT_EQ(reading.total(), 1);
    EXPECT_EQ(failing.total(), 0) << "the other wait goes on";
    ending again;
    auto next = ex::connect(readable(handle()), ending_receiver{&again, {}});
    ex::start(next);
    write();
    EXPECT_TRUE(until(set(), [&] { return again.values == 1; }));
    handle().shutdown(std::make_error_code(std::errc::timed_out));
    EXPECT_TRUE(until(set(), [&] { return failing.errors == 1; }));
    EXPECT_EQ(failing.error, std::errc::timed_out);
}

TEST_P(PollsetSender, StoppedBeforeItStartsItDoesNotWait) {
    ending end;
    ex::inplace_stop_source source;
    source.request_stop();
    auto op = ex::connect(readable(handle()), ending_receiver{&end, source.get_token()});
    ex::start(op);
    EXPECT_EQ(end.stops, 1);
}

TEST_P(PollsetSender, ASecondWaitForTheSameEventIsAnError) {
    ending first;
    ending second;
    ex::inplace_stop_source source;
    auto one = ex::connect(readable(handle()), ending_receiver{&first, source.get_token()});
    auto two = ex::connect(readable(handle()), ending_receiver{&second, {}});
    ex::start(one);
    ex::start(two);
    EXPECT_EQ(second.error, std::errc::connection_already_in_progress);
    EXPECT_EQ(first.total(), 0);
    source.request_stop();
    EXPECT_EQ(first.stops, 1);
}

TEST_P(PollsetSender, WithoutAPollsetTheEndComesInsideStart) {
    auto [read, write] = make_pipe();
    held_handle alone(domain(), std::move(read));
    alone->shutdown(std::make_error_code(std::errc::host_unreachable));
    ending end;
    auto op = ex::connect(readable(*alone), ending_receiver{&end, {}});
    ex::start(op);
    EXPECT_EQ(end.error, std::errc::host_unreachable);
    EXPECT_EQ(end.total(), 1);
}

TEST_P(PollsetSender, AStopRacesTheEventAndOneOfThemWins) {
    random_numbers random;
    std::atomic<bool> over{false};
    std::thread worker([&] {
        while (!over) {
            static_cast<void>(set().work(clock::now() + 50ms));
        }
    });
    int values = 0;
    const auto tries = scaled(2'000);
    for (std::uint64_t i = 0; i != tries; ++i) {
        ending end;
        ex::inplace_stop_source source;
        auto op = ex::connect(readable(handle()), ending_receiver{&end, source.get_token()});
        std::thread stopper;
        std::atomic<int> at{0};
        if (random.one_in(2)) {
            write();
        }
        stopper = std::thread([&] {
            while (at == 0) {}
            source.request_stop();
        });
        at = 1;
        ex::start(op);
        while (end.total() == 0) {
            std::this_thread::yield();
        }
        stopper.join();
        ASSERT_EQ(end.total(), 1);
        ASSERT_EQ(end.errors, 0);
        values += end.values;
    }
    over = true;
    set().kick_any();
    worker.join();
    EXPECT_GT(values, 0);
    EXPECT_LT(values, static_cast<int>(tries));
}

TEST_P(PollsetSender, AThreadRunsUntilTheTokenAsksItToStop) {
    ex::inplace_stop_source source;
    std::thread worker([&] { EXPECT_EQ(*run(set(), source.get_token()), work_end::kicked); });
    ending end;
    auto op = ex::connect(readable(handle()), ending_receiver{&end, {}});
    ex::start(op);
    write();
    while (end.total() == 0) {
        std::this_thread::yield();
    }
    source.request_stop();
    worker.join();
    EXPECT_EQ(*run(set(), source.get_token()), work_end::kicked) << "it was asked already";
}

TEST_P(PollsetSender, AThreadRunsUntilThePollsetIsShutDown) {
    noted done;
    std::thread worker(
        [&] { EXPECT_EQ(*run(set(), ex::never_stop_token()), work_end::shut_down); });
    set().shutdown(done);
    worker.join();
    EXPECT_EQ(done.calls(), 1);
}

TEST_P(PollsetSender, WritableCompletesWhenThereIsRoom) {
    auto [near, far] = unix_stream_pair();
    while (::send(near.get(), "0123456789", 10, MSG_DONTWAIT) > 0) {}
    held_handle full(domain(), std::move(near));
    ASSERT_FALSE(set().add(*full));
    ending end;
    auto op = ex::connect(writable(*full), ending_receiver{&end, {}});
    ex::start(op);
    EXPECT_EQ(*set().try_work(), work_end::timed_out);
    EXPECT_EQ(end.total(), 0);
    std::array<char, 4096> bytes{};
    while (::recv(far.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {}
    EXPECT_TRUE(until(set(), [&] { return end.values == 1; }));
    EXPECT_EQ(end.total(), 1);
}

TEST_P(PollsetSender, ErroredCompletesWithAReset) {
    auto [near, far] = tcp_pair();
    held_handle socket(domain(), std::move(near));
    ASSERT_FALSE(set().add(*socket));
    ending end;
    auto op = ex::connect(errored(*socket), ending_receiver{&end, {}});
    ex::start(op);
    send_all(far.get(), "x");
    EXPECT_EQ(*set().try_work(), work_end::timed_out);
    EXPECT_EQ(end.total(), 0);
    reset_on_close(far.get());
    far.reset();
    EXPECT_TRUE(until(set(), [&] { return end.values == 1; }));
    EXPECT_EQ(end.total(), 1);
}

TEST_P(PollsetSender, AThreadRunsUntilAStandardTokenAsksItToStop) {
    std::stop_source source;
    std::thread worker([&] { EXPECT_EQ(*run(set(), source.get_token()), work_end::kicked); });
    EXPECT_TRUE(comes([&] { return domain().counters().waits != 0; }));
    source.request_stop();
    worker.join();
    EXPECT_EQ(*run(set(), source.get_token()), work_end::kicked) << "it was asked already";
}

EDDY_WITH_EVERY_STRATEGY(PollsetSender);

}  // namespace
}  // namespace eddy::test::pollset_sender_test
