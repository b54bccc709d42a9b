// SPDX-License-Identifier: Apache-2.0
#include "support/random.hpp"
#include "support/engine_fixture.hpp"
#include "support/fds.hpp"
#include "support/recorder.hpp"

#include <array>
#include <chrono>
#include <deque>
#include <span>
#include <string>
#include <utility>

namespace eddy::test::random_test {
namespace {

/// Two ends of a unix connection (TCP ports would run out), and what was sent and received at them.
struct connection {
    std::array<descriptor, 2> ends;
    std::size_t sent = 0;
    std::size_t received = 0;
    bool closed = false;
};

/// A transfer of up to 100 bytes (a lease brings what there is), by one operation that is used
/// again and again.
struct transfer {
    recorder done;
    std::string buffer = std::string(100, 'x');
    connection* on = nullptr;
    bool sends = false;
    std::size_t starts = 0;
    std::size_t endings = 0;
};

/// Starts, cancels and times out transfers and closes connections, in any order.
class RandomSteps : public EngineTest {
protected:
    void steps(std::size_t count) {
        for (auto& t : transfers_) {
            t.done.then([&t](recorder& r) {
                ++t.endings;
                (t.sends ? t.on->sent : t.on->received) += r.count();
            });
        }
        for (std::size_t i = 0; i != count && !HasFailure(); ++i) {
            step();
        }
        for (auto& c : connections_) {
            close(c);
        }
        loop().run(run_mode::empty, {.until = clock::now() + patience});
        ASSERT_TRUE(loop().empty());
        for (const auto& t : transfers_) {
            EXPECT_EQ(t.endings, t.starts);
        }
        std::size_t received = 0;
        for (const auto& c : connections_) {
            EXPECT_LE(c.received, c.sent);
            received += c.received;
        }
        EXPECT_EQ(loop().counters().leases_out, 0U);
        EXPECT_GT(received, count);  // or the steps were too idle to show anything
    }

private:
    void step() {
        transfer& t = transfers_[random_.below(transfers_.size())];
        switch (random_.below(8)) {
            case 0:
                loop().cancel(t.done.operation());
                break;
            case 1:
                if (random_.one_in(20)) {
                    close(some_connection());
                }
                break;
            case 2:
                loop().poll();
                break;
            default:
                if (!t.done.operation().pending()) {
                    start_some(t);
                }
        }
    }

    void start_some(transfer& t) {
        t.on = &some_connection();
        t.sends = random_.one_in(2);
        ++t.starts;
        // Each byte goes one way only, so that what is received was sent before.
        const descriptor& end = t.on->ends[t.sends ? 0 : 1];
        const auto data = bytes(t.buffer).first(random_.below(t.buffer.size() + 1));
        const auto deadline =
            random_.one_in(4) ? clock::now() + std::chrono::microseconds(random_.below(50)) : never;
        start(t.done, t.sends ? some_send(end, data) : some_receive(end, data), deadline);
    }

    io_request some_send(const descriptor& end, std::span<const std::byte> data) {
        switch (random_.below(4)) {
            case 0:
                return write_all(end, data);
            case 1:
                return send_file(end, file_.get(), 0, data.size());
            default:
                return send(end, data);
        }
    }

    /// Leases are left to the loop, which takes them back.
    io_request some_receive(const descriptor& end, std::span<std::byte> data) {
        switch (random_.below(4)) {
            case 0:
                return read_all(end, data);
            case 1:
                return receive(end);
            default:
                return recv(end, data);
        }
    }

    /// One of eight; a closed one is replaced now and then, so that it is met closed, too.
    connection& some_connection() {
        connection*& chosen = current_[random_.below(current_.size())];
        if (chosen == nullptr || (chosen->closed && random_.one_in(4))) {
            fd_pair pair = unix_stream_pair();
            chosen = &connections_.emplace_back();
            chosen->ends = {attach(std::move(pair.first)), attach(std::move(pair.second))};
        }
        return *chosen;
    }

    static void close(connection& c) {
        c.closed = true;
        c.ends[0].close();
        c.ends[1].close();
    }

    random_numbers random_;
    const scratch_directory directory_;
    const unique_fd file_ = directory_.file("f", std::string(100, 'x'));
    std::deque<connection> connections_;
    std::array<connection*, 8> current_{};
    std::array<transfer, 24> transfers_;
};

TEST_P(RandomSteps, EndEachOperationOnceAndInventNoBytes) { steps(20'000); }
EDDY_ON_EVERY_ENGINE(RandomSteps);

class LongRandomSteps : public RandomSteps {};
TEST_P(LongRandomSteps, EndEachOperationOnceAndInventNoBytes) { steps(scaled(20'000)); }
EDDY_ON_EVERY_ENGINE(LongRandomSteps);

}  // namespace
}  // namespace eddy::test::random_test
