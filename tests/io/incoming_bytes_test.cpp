// SPDX-License-Identifier: Apache-2.0
#include "io/io_fixture.hpp"

#include <eddy/async/task.hpp>
#include <eddy/io/incoming.hpp>
#include <eddy/io/local/socket.hpp>
#include <eddy/io/pipe.hpp>
#include <eddy/io/tcp/acceptor.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace eddy::test::incoming_bytes_test {
namespace {

/// Buffers of 64 bytes.
class IncomingBytes : public IoTest {
protected:
    static constexpr std::size_t buffer_size = 64;

    void SetUp() override {
        IoTest::SetUp();
        if (!IsSkipped()) {
            make_loop({.lease_size = buffer_size, .lease_count = 16, .lease_max = 16});
        }
    }
    /// Different everywhere.
    static std::string numbers(std::size_t size) {
        std::string text;
        for (std::size_t i = 0; text.size() < size; ++i) {
            text += std::to_string(i) + ' ';
        }
        text.resize(size);
        return text;
    }
    std::string take(incoming<lease>& from, std::size_t size) {
        std::string got;
        while (got.size() < size) {
            const lease some = run(from.next());
            if (some.empty()) {
                break;
            }
            got += as_text(some.data());
        }
        return got;
    }
    std::size_t out() { return loop().counters().leases_out; }
};

TEST_P(IncomingBytes, ComeInOrderThenTheEndAsOftenAsItIsAskedFor) {
    auto [a, b] = local::make_pair(loop());
    incoming<lease> data(a);
    const std::string text = numbers(5000);
    started writing(loop(), b.write(bytes(text)));
    EXPECT_EQ(take(data, text.size()), text);
    ASSERT_TRUE(ends(writing));
    run(b.close());
    EXPECT_TRUE(run(data.next()).empty());
    EXPECT_TRUE(run(data.next()).empty());
    EXPECT_EQ(out(), 0U);
}

TEST_P(IncomingBytes, AreNotReadBeforeSomebodyAsks) {
    auto [a, b] = local::make_pair(loop());
    incoming<lease> data(a);
    run(b.write(bytes("for read")));
    settle();
    char text[8];
    EXPECT_EQ(run(a.read(bytes(text))), 8U);
    run(b.write(bytes("for next")));
    EXPECT_EQ(as_text(run(data.next()).data()), "for next");
}

TEST_P(IncomingBytes, StayInTheSocketWhenItIsFull) {
    constexpr std::size_t capacity = 4;
    auto [a, b] = local::make_pair(loop());
    incoming<lease> data(a, capacity);
    const std::string text = numbers(100 * buffer_size);
    run(b.write(bytes(text)));
    std::string got(as_text(run(data.next()).data()));
    ASSERT_TRUE(until([&] { return data.stored() > capacity / 2; }));
    turns_in(10ms);
    EXPECT_LE(data.stored(), 16U);
    EXPECT_TRUE(becomes_ready(a.native_handle(), 1 /* POLLIN */, 0)) << "nothing is left";
    got += take(data, text.size() - got.size());
    EXPECT_EQ(got, text);
    EXPECT_EQ(data.stored(), 0U);
}

TEST_P(IncomingBytes, TheEndComesBehindWhatIsStored) {
    auto [a, b] = local::make_pair(loop());
    incoming<lease> data(a, 8);
    const std::string text = numbers(3 * buffer_size);
    run(b.write(bytes(text)));
    run(b.close());
    std::string got(as_text(run(data.next()).data()));
    turns_in(10ms);
    got += take(data, text.size() - got.size());
    EXPECT_EQ(got, text);
    EXPECT_TRUE(run(data.next()).empty());
}

TEST_P(IncomingBytes, AnErrorComesBehindWhatIsStored) {
    tcp::acceptor acceptor(loop(), address::loopback_v4(0));
    address where;
    ASSERT_FALSE(acceptor.local_address(where));
    auto [server, client] = run_both(acceptor.accept(), tcp::connect(loop(), where));
    incoming<lease> data(server, 8);
    const std::string text = numbers(2 * buffer_size);
    run(client.write(bytes(text)));
    std::string got(as_text(run(data.next()).data()));
    ASSERT_TRUE(until([&] { return data.stored() * buffer_size == text.size() - got.size(); }));
    ASSERT_FALSE(client.set_option(option::reset_on_close));
    run(client.close());
    turns_in(10ms);
    got += take(data, text.size() - got.size());
    EXPECT_EQ(got, text);
    EXPECT_EQ(error_of(data.next()), std::errc::connection_reset);
    EXPECT_TRUE(run(data.next()).empty());
}

TEST_P(IncomingBytes, SeveralCanWait) {
    auto [a, b] = local::make_pair(loop());
    incoming<lease> data(a);
    started first(loop(), data.next());
    started second(loop(), data.next());
    started third(loop(), data.next());
    settle();
    const std::string text = numbers(2 * buffer_size);
    run(b.write(bytes(text)));
    run(b.close());
    ASSERT_TRUE(ends(first) && ends(second) && ends(third));
    EXPECT_EQ(
        std::string(as_text(first.value().data())) + std::string(as_text(second.value().data())),
        text);
    EXPECT_TRUE(third.value().empty());
}

TEST_P(IncomingBytes, AStoppedNextLosesNone) {
    auto [a, b] = local::make_pair(loop());
    incoming<lease> data(a);
    started waiting(loop(), data.next());
    settle();
    waiting.stop();
    ASSERT_TRUE(ends(waiting));
    EXPECT_TRUE(waiting.stopped());
    run(b.write(bytes("kept")));
    turns_in(1ms);
    EXPECT_EQ(as_text(run(data.next()).data()), "kept");
}

TEST_P(IncomingBytes, DestroyingItGivesBuffersBackAndEndsWhoWaits) {
    auto [a, b] = local::make_pair(loop());
    std::optional<incoming<lease>> data(std::in_place, a, 8);
    run(b.write(bytes(numbers(4 * buffer_size))));
    EXPECT_FALSE(run(data->next()).empty());
    ASSERT_TRUE(until([&] { return data->stored() == 3; }));
    EXPECT_EQ(out(), 3U);
    data.reset();
    settle();
    EXPECT_EQ(out(), 0U);
    data.emplace(a);
    started waiting(loop(), data->next());
    settle();
    data.reset();
    ASSERT_TRUE(ends(waiting));
    EXPECT_EQ(waiting.error(), canceled);
    run(b.write(bytes("next")));
    char text[4];
    EXPECT_EQ(run(a.read(bytes(text))), 4U) << "the socket can be read otherwise now";
}

TEST_P(IncomingBytes, MayBeDestroyedByWhoWaited) {
    auto [a, b] = local::make_pair(loop());
    auto data = std::make_unique<incoming<lease>>(a);
    started waiting(loop(), data->next() | ex::then([&](lease got) noexcept {
                                data.reset();
                                return got;
                            }));
    settle();
    run(b.write(bytes(numbers(2 * buffer_size))));
    ASSERT_TRUE(ends(waiting));
    EXPECT_EQ(waiting.value().size(), buffer_size);
    settle();
    EXPECT_EQ(out(), 1U);
}

TEST_P(IncomingBytes, ClosingTheSocketEndsWhoWaitsBehindWhatIsStored) {
    auto [a, b] = local::make_pair(loop());
    incoming<lease> data(a, 8);
    run(b.write(bytes(numbers(2 * buffer_size))));
    EXPECT_FALSE(run(data.next()).empty());
    ASSERT_TRUE(until([&] { return data.stored() == 1; }));
    run(a.close());
    EXPECT_EQ(run(data.next()).size(), buffer_size);
    EXPECT_EQ(error_of(data.next()), canceled);

    auto [c, d] = local::make_pair(loop());
    incoming<lease> other(c);
    started waiting(loop(), other.next());
    settle();
    run(c.close());
    ASSERT_TRUE(ends(waiting));
    EXPECT_EQ(waiting.error(), canceled);
}

TEST_P(IncomingBytes, ALoopThatDrainsStopsWhoWaits) {
    auto [a, b] = local::make_pair(loop());
    incoming<lease> data(a);
    started waiting(loop(), data.next());
    settle();
    loop().stop();
    loop().run(run_mode::drained);
    EXPECT_TRUE(waiting.stopped());
}

TEST_P(IncomingBytes, AnEmptyStreamAndAMovedOneFail) {
    incoming<lease> none{stream()};
    EXPECT_EQ(error_of(none.next()), bad_fd);
    auto [a, b] = local::make_pair(loop());
    incoming<lease> from(a);
    incoming<lease> to = std::move(from);
    EXPECT_EQ(error_of(from.next()), bad_fd);
    run(b.write(bytes("moved")));
    EXPECT_EQ(as_text(run(to.next()).data()), "moved");
}

TEST_P(IncomingBytes, OfPipesToo) {
    auto [reader, writer] = make_pipe(loop());
    incoming<lease> data(reader);
    run(writer.write(bytes("piped")));
    EXPECT_EQ(as_text(run(data.next()).data()), "piped");
    run(writer.close());
    EXPECT_TRUE(run(data.next()).empty());
}

/// The kernel takes a few at a time.
TEST_P(IncomingBytes, OfABusyStreamLeaveBuffersForOthers) {
    auto [a, b] = local::make_pair(loop());
    auto [c, d] = local::make_pair(loop());
    incoming<lease> busy(a, 1);
    incoming<lease> other(c, 1);
    run(b.write(bytes(numbers(100 * buffer_size))));
    EXPECT_FALSE(run(busy.next()).empty());
    ASSERT_TRUE(until([&] { return busy.stored() >= 1; }));
    turns_in(10ms);
    EXPECT_LE(busy.stored(), 8U);
    run(d.write(bytes("served")));
    EXPECT_EQ(as_text(run(other.next()).data()), "served");
}

/// Somebody who waits, told of below the sender, and does something then.
struct told : detail::ahead_queue<detail::bytes_ahead>::waiter {
    told() : waiter(&on_result) {}
    static bool on_result(waiter& w, lease, io_result result, bool) noexcept {
        auto& self = static_cast<told&>(w);
        ++self.times;
        self.result = result;
        if (self.then) {
            self.then();
        }
        return true;
    }
    int times = 0;
    io_result result;
    std::function<void()> then;
};

/// Two wait when the peer resets.
class IncomingBytesEnd : public IncomingBytes {
protected:
    void SetUp() override {
        IncomingBytes::SetUp();
        if (!IsSkipped()) {
            tcp::acceptor acceptor(loop(), address::loopback_v4(0));
            address where;
            ASSERT_FALSE(acceptor.local_address(where));
            auto pair = run_both(acceptor.accept(), tcp::connect(loop(), where));
            server_ = std::move(pair.first);
            client_ = std::move(pair.second);
            queue_ = queue::make(loop(), receive_multishot(server_.get_descriptor()), 4);
        }
    }
    void TearDown() override {
        queue_.reset();
        server_ = {};
        client_ = {};
        IncomingBytes::TearDown();
    }
    void wait_and_reset() {
        queue_->take(first_);
        queue_->take(second_);
        settle();
        ASSERT_FALSE(client_.set_option(option::reset_on_close));
        run(client_.close());
        ASSERT_TRUE(until([&] { return first_.times != 0 && third_.times != 0; }));
        EXPECT_EQ(first_.result.error(), std::errc::connection_reset);
        EXPECT_EQ(third_.times, 1);
        EXPECT_EQ(third_.result, io_result::value(0)) << third_.result.error().message();
    }

    using queue = detail::ahead_queue<detail::bytes_ahead>;
    tcp::socket server_;
    tcp::socket client_;
    queue::pointer queue_;
    told first_;
    told second_;
    told third_;
};
EDDY_ON_EVERY_ENGINE(IncomingBytesEnd);

TEST_P(IncomingBytesEnd, IsToldToAllWhoWaitedAndNotToWhoAsksMeanwhile) {
    first_.then = [&] { queue_->take(third_); };
    wait_and_reset();
    EXPECT_EQ(second_.result.error(), std::errc::connection_reset);
}

TEST_P(IncomingBytesEnd, IsNotToldToWhoAsksMeanwhileWhenTheLastOfThoseIsGone) {
    first_.then = [&] {
        queue_->remove(second_);
        queue_->take(third_);
    };
    wait_and_reset();
    EXPECT_EQ(second_.times, 0);
}

/// More streams than buffers, all with something to read.
TEST_P(IncomingBytes, OfManyShareTheBuffersThatThereAre) {
    make_loop({.lease_size = buffer_size, .lease_count = 4, .lease_max = 4});
    constexpr std::size_t count = 6;
    const std::string text = numbers(20 * buffer_size);
    std::vector<std::pair<local::stream, local::stream>> pairs;
    std::vector<incoming<lease>> all;
    for (std::size_t i = 0; i != count; ++i) {
        pairs.push_back(local::make_pair(loop()));
        all.emplace_back(pairs.back().first, 1);
        run(pairs.back().second.write(bytes(text)));
    }
    const auto take_all = [&](incoming<lease>& from) -> task<std::string> {
        std::string got;
        while (got.size() < text.size()) {
            const lease some = co_await from.next();
            got += as_text(some.data());
        }
        co_return got;
    };
    std::vector<std::unique_ptr<started<task<std::string>>>> takers;
    for (incoming<lease>& from : all) {
        takers.push_back(std::make_unique<started<task<std::string>>>(loop(), take_all(from)));
    }
    for (const auto& taker : takers) {
        ASSERT_TRUE(ends(*taker));
        EXPECT_EQ(taker->value(), text);
    }
}

EDDY_ON_EVERY_ENGINE(IncomingBytes);

}  // namespace
}  // namespace eddy::test::incoming_bytes_test
