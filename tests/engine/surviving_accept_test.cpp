// SPDX-License-Identifier: Apache-2.0
// Accepts survive errors that pass, and tell of those that last.
#include "kernel/call.hpp"
#include "support/engine_fixture.hpp"
#include "support/heard_reports.hpp"
#include "support/no_more_fds.hpp"
#include "support/processor_time.hpp"

#if EDDY_HAS_IO_URING
#include "engine/uring/uring_faults.hpp"
#endif

#include <algorithm>
#include <cstring>

#include <netinet/in.h>
#include <sys/socket.h>

namespace eddy::test::surviving_accept_test {
namespace {

constexpr accept_errors every = accept_errors::every;

class SurvivingAccept : public EngineTest {
protected:
    void SetUp() override {
        EngineTest::SetUp();
        if (!IsSkipped()) {
            tcp_listener listener;
            port_ = listener.port();
            listening_ = attach(listener.take(), {.name = "front door"});
            turns_in(1ms);
        }
    }
    void TearDown() override {
        listening_.close();
        EngineTest::TearDown();
    }
    io_request request(bool multishot, accept_errors errors = accept_errors::lasting) const {
        return multishot ? accept_multishot(listening_, 0, errors) : accept(listening_, 0, errors);
    }
    /// The peer of a recorder's last result answers: the connection is the client's.
    void expect_connected(const recorder& r, const unique_fd& client) {
        ASSERT_TRUE(r.result().ok()) << r.error();
        const unique_fd server(r.result().fd());
        send_all(client.get(), "x");
        EXPECT_EQ(recv_exactly(server.get(), 1), "x");
    }
    void end(recorder& r) {
        if (!r.ended()) {
            loop().cancel(r.operation());
            EXPECT_TRUE(ends(r));
        }
    }

    unsigned short port_ = 0;
    descriptor listening_;
    heard_reports reported_;
};
EDDY_ON_EVERY_ENGINE(SurvivingAccept);

TEST_P(SurvivingAccept, WaitsUntilThereAreDescriptorsAndCostsNothingMeanwhile) {
    for (const bool multishot : {false, true}) {
        const std::size_t reported = reported_.with("accept on fd");
        const unique_fd client = tcp_connect(port_);
        recorder r;
        {
            const no_more_fds limit;
            start(r, request(multishot));
            const std::uint64_t calls = kernel::calls_made();
            const duration before = processor_time();
            EXPECT_LE(turns_in(300ms), 40U);
            EXPECT_LT(processor_time() - before, 3ms) << "more than 1 % of the processor";
            EXPECT_LE(kernel::calls_made() - calls, 200U);
            EXPECT_TRUE(r.results().empty()) << r.error();
            EXPECT_EQ(reported_.with("front door: Too many open files"), reported + 1)
                << reported_.all();
        }
        ASSERT_TRUE(until([&] { return !r.results().empty(); }));
        expect_connected(r, client);
        end(r);
    }
}

TEST_P(SurvivingAccept, ReportsTheNextRowOfFailuresAgain) {
    recorder r;
    start(r, request(true));
    settle();
    for (std::size_t row = 1; row != 3; ++row) {
        unique_fd client = tcp_socket();
        {
            const no_more_fds limit;
            sockaddr_in address{};
            address.sin_family = AF_INET;
            address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            address.sin_port = htons(port_);
            ASSERT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address),
                                sizeof address),
                      0);
            if (!on(engine_kind::io_uring)) {  // which keeps to the limit of the time of its start
                ASSERT_TRUE(until([&] { return reported_.with("accept") == row; }));
            }
        }
        ASSERT_TRUE(until([&] { return r.results().size() == row; }));
        expect_connected(r, client);
    }
    end(r);
}

TEST_P(SurvivingAccept, CanBeCancelledWhileItPauses) {
    for (const bool multishot : {false, true}) {
        const unique_fd client = tcp_connect(port_);
        const no_more_fds limit;
        recorder r;
        start(r, request(multishot));
        turns_in(1ms);
        loop().cancel(r.operation());
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.error(), std::errc::operation_canceled);
        EXPECT_EQ(r.results().size(), 1U);
    }
}

TEST_P(SurvivingAccept, EndsWhenTheListenerFailsForGood) {
    for (const bool multishot : {false, true}) {
        recorder r;
        start(r, request(multishot));
        settle();
        ASSERT_FALSE(r.ended());
        ASSERT_EQ(::shutdown(listening_.native_handle(), SHUT_RDWR), 0);
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.error(), std::errc::invalid_argument);
        EXPECT_EQ(r.results().size(), 1U);
        ASSERT_EQ(::listen(listening_.native_handle(), 8), 0);
    }
}

bool can_inject_into_io_uring() {
#if EDDY_HAS_IO_URING
    return uring_faults::can_inject_results();
#else
    return false;
#endif
}

/// Accepts that fail with an error of the test's choice.
class FullSurvivingAcceptCall : public SurvivingAccept {
protected:
    void SetUp() override {
        SurvivingAccept::SetUp();
        if (on(engine_kind::io_uring) && !can_inject_into_io_uring()) {
            GTEST_SKIP() << "this kernel completes no entry with an error that it is asked for";
        }
    }
    static void fail_accepts(int error) { kernel::fail(kernel::call::accept, error, 0, 1'000'000); }
    /// The loop uses less than 1 % of the processor in 200 ms. On a busy machine each turn takes
    /// longer, so one quiet period of five is enough. Returns the number of periods.
    std::size_t expect_idle(const char* what) {
        duration least = duration::max();
        std::size_t periods = 0;
        while (periods != 5 && least >= 2ms) {
            ++periods;
            const duration before = processor_time();
            EXPECT_LE(turns_in(200ms), 100U) << what;
            least = std::min(least, processor_time() - before);
        }
        EXPECT_LT(least, 2ms) << what;
        return periods;
    }
};
EDDY_ON_EVERY_ENGINE(FullSurvivingAcceptCall);

TEST_P(FullSurvivingAcceptCall, OutlivesEveryErrorThatPasses) {
    for (const int error :
         {EMFILE, ENFILE, ENOBUFS, ENOMEM, ENOSR, EPERM, ECONNABORTED, ECONNRESET, EPROTO,
          ENOPROTOOPT, ETIMEDOUT, ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH, ENONET}) {
        for (const bool multishot : {false, true}) {
            const unique_fd client = tcp_connect(port_);
            fail_accepts(error);
            recorder r;
            start(r, request(multishot));
            turns_in(1ms);
            EXPECT_TRUE(r.results().empty()) << r.error();
            EXPECT_GE(kernel::fired(), 1U);
            kernel::fail_nothing();
            ASSERT_TRUE(until([&] { return !r.results().empty(); }));
            expect_connected(r, client);
            end(r);
        }
    }
}

TEST_P(FullSurvivingAcceptCall, IsMadeAgainWhenItIsInterrupted) {
    for (const bool multishot : {false, true}) {
        for (const accept_errors errors : {accept_errors::lasting, every}) {
            const unique_fd client = tcp_connect(port_);
            kernel::fail(kernel::call::accept, EINTR, 0, 1);
            recorder r;
            start(r, request(multishot, errors));
            ASSERT_TRUE(until([&] { return !r.results().empty(); }));
            EXPECT_EQ(kernel::fired(), 1U);
            kernel::fail_nothing();
            expect_connected(r, client);
            end(r);
        }
    }
}

TEST_P(FullSurvivingAcceptCall, UsesNoProcessorWhileAnErrorLasts) {
    for (const int error : {EMFILE, ENOMEM, ECONNABORTED}) {
        for (const bool multishot : {false, true}) {
            const unique_fd client = tcp_connect(port_);
            fail_accepts(error);
            recorder r;
            start(r, request(multishot));
            ASSERT_TRUE(until([] { return kernel::fired() >= 3; })) << "it does not try again";
            expect_idle(::strerrorname_np(error));
            EXPECT_TRUE(r.results().empty()) << r.error();
            kernel::fail_nothing();
            ASSERT_TRUE(until([&] { return !r.results().empty(); }));
            expect_connected(r, client);
            end(r);
        }
    }
}

/// An accept that its user starts again after each error, as a loop around it does.
TEST_P(FullSurvivingAcceptCall, UsesNoProcessorWhileAnErrorLastsIfAskedForEvery) {
    for (const int error : {EMFILE, ENOMEM, ECONNABORTED}) {
        for (const bool multishot : {false, true}) {
            const unique_fd client = tcp_connect(port_);
            fail_accepts(error);
            std::size_t errors = 0;
            recorder r([&](recorder& self) {
                errors += self.result() ? 0U : 1U;
                if (!self.result() && self.ended()) {
                    start(self, request(multishot, every));
                }
            });
            start(r, request(multishot, every));
            ASSERT_TRUE(until([&] { return errors >= 3; })) << "it does not try again";
            const std::size_t before = errors;
            const std::size_t periods = expect_idle(::strerrorname_np(error));
            EXPECT_LE(errors - before, 6U * periods) << "it does not pause";
            kernel::fail_nothing();
            ASSERT_TRUE(until([&] { return !r.results().empty() && r.result().ok(); }));
            expect_connected(r, client);
            r.then(nullptr);
            end(r);
        }
    }
}

TEST_P(FullSurvivingAcceptCall, TellsOfEachErrorThatPassesIfAskedForEvery) {
    for (const int error : {EMFILE, ECONNABORTED}) {
        for (const bool multishot : {false, true}) {
            const unique_fd client = tcp_connect(port_);
            kernel::fail(kernel::call::accept, error, 0, 1);
            recorder r;
            start(r, request(multishot, every));
            ASSERT_TRUE(until([&] { return !r.results().empty(); }));
            EXPECT_EQ(r.result().system_error(), error);
            EXPECT_EQ(r.ended(), !multishot);
            if (!multishot) {
                start(r, request(multishot, every));
            }
            ASSERT_TRUE(until([&] { return !r.results().empty() && r.result().ok(); }));
            expect_connected(r, client);
            end(r);
        }
    }
    EXPECT_EQ(reported_.all(), "") << "those who get an error need no report of it";
}

}  // namespace
}  // namespace eddy::test::surviving_accept_test
