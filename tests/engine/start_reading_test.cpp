// SPDX-License-Identifier: Apache-2.0
#include "engine/lease_fixture.hpp"

#include <eddy/loop/detail/own_io.hpp>
#include <eddy/loop/requests.hpp>

#include <optional>
#include <string>
#include <vector>

#include <sys/socket.h>

namespace eddy::test::start_reading_test {
namespace {

/// A receive of a task, which says nothing but its order.
class reading : public own_io {
public:
    reading(std::vector<reading*>& ended, const io_request& request)
        : own_io(&on_complete, request, lease_is::taken), ended_(ended) {}

    void end() noexcept {
        received = result();
        if (request().code == opcode::receive) {
            text = text_of(take_lease());
        }
        ended_.push_back(this);
    }

    std::optional<io_result> received;
    std::string text;

private:
    static void on_complete(io_operation& op) noexcept { static_cast<reading&>(op).end(); }

    std::vector<reading*>& ended_;
};

/// What waits is not asked much when it is started.
class StartReading : public EngineTest {
protected:
    void start_reading(reading& one) {
        if (!one.wait_for_data(loop())) {
            one.start(loop());
        }
    }
    /// Inside a callback of the loop, as what runs on it does.
    void begin(reading& one) {
        bool begun = false;
        loop().post([&] {
            start_reading(one);
            begun = true;
        });
        EXPECT_TRUE(until([&] { return begun; }));
    }
    bool ends(const reading& one) {
        return until([&] { return one.received.has_value(); });
    }

    std::vector<reading*> ended_;
    std::array<std::byte, 64> buffer_{};
};
EDDY_ON_EVERY_ENGINE(StartReading);

TEST_P(StartReading, GetsWhatComesLater) {
    for (const pair_maker make : {&tcp_pair, &unix_stream_pair}) {
        fd_pair pair = make();
        const descriptor d = attach(std::move(pair.second));
        reading one(ended_, receive(d));
        begin(one);
        settle();
        EXPECT_FALSE(one.received);
        send_all(pair.first.get(), "hello");
        ASSERT_TRUE(ends(one));
        EXPECT_EQ(one.text, "hello");
    }
}

TEST_P(StartReading, GetsWhatCameBeforeAndWasNotAskedFor) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.second));
    send_all(pair.first.get(), "hello");
    settle();
    reading one(ended_, receive(d));
    begin(one);
    ASSERT_TRUE(ends(one));
    EXPECT_EQ(one.text, "hello");
}

/// A part of what had come was taken: no edge tells of the rest.
TEST_P(StartReading, GetsWhatAnotherHasLeft) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.second));
    send_all(pair.first.get(), "hello");
    reading first(ended_, recv(d, std::span(buffer_).first(2)));
    begin(first);
    ASSERT_TRUE(ends(first));
    reading second(ended_, receive(d));
    begin(second);
    ASSERT_TRUE(ends(second));
    EXPECT_EQ(second.text, "llo");
}

TEST_P(StartReading, IsBehindThoseThatWait) {
    fd_pair pair = unix_stream_pair();
    const descriptor d = attach(std::move(pair.second));
    reading first(ended_, recv(d, std::span(buffer_).first(2)));
    reading second(ended_, receive(d));
    begin(first);
    begin(second);
    send_all(pair.first.get(), "hello");
    ASSERT_TRUE(ends(second));
    EXPECT_EQ(ended_, (std::vector{&first, &second}));
    EXPECT_EQ(second.text, "llo");
}

TEST_P(StartReading, TellsOfTheEnd) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.second));
    reading one(ended_, receive(d));
    begin(one);
    pair.first.reset();
    ASSERT_TRUE(ends(one));
    EXPECT_EQ(one.received, io_result::value(0));
    // No edge follows.
    reading again(ended_, receive(d));
    begin(again);
    ASSERT_TRUE(ends(again));
    EXPECT_EQ(again.received, io_result::value(0));
}

TEST_P(StartReading, FailsOnADescriptorThatIsClosed) {
    fd_pair pair = unix_stream_pair();
    descriptor d = attach(std::move(pair.second));
    reading one(ended_, receive(d));
    d.close();
    begin(one);
    ASSERT_TRUE(ends(one));
    EXPECT_EQ(one.received, io_result::system_error(EBADF));
}

TEST_P(StartReading, EndsWithItsDescriptor) {
    fd_pair pair = unix_stream_pair();
    descriptor d = attach(std::move(pair.second));
    reading one(ended_, receive(d));
    begin(one);
    d.close();
    ASSERT_TRUE(ends(one));
    EXPECT_EQ(one.received, io_result::system_error(ECANCELED));
}

/// An error behind bytes of the one before is for this one.
TEST_P(StartReading, TellsOfAnErrorThatWasKept) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.second));
    recorder before;
    start(before, recv_all(d, buffer_));
    send_all(pair.first.get(), "hello");
    settle();
    reset_on_close(pair.first.get());
    pair.first.reset();
    ASSERT_TRUE(EngineTest::ends(before));
    ASSERT_EQ(before.result(), io_result::value(5));
    reading one(ended_, receive(d));
    begin(one);
    ASSERT_TRUE(ends(one));
    EXPECT_EQ(one.received, io_result::system_error(ECONNRESET));
}

TEST_P(StartReading, KeepsTheLoopGoing) {
    fd_pair pair = unix_stream_pair();
    const descriptor d = attach(std::move(pair.second));
    reading one(ended_, receive(d));
    begin(one);
    EXPECT_FALSE(loop().empty());
    send_all(pair.first.get(), "x");
    loop().run(run_mode::empty);
    EXPECT_EQ(one.text, "x");
    EXPECT_TRUE(loop().empty());
}

TEST_P(StartReading, IsCanceledInALoopThatDrains) {
    fd_pair pair = unix_stream_pair();
    const descriptor d = attach(std::move(pair.second));
    reading late(ended_, receive(d));
    recorder first([&](recorder&) { start_reading(late); });  // cancelled by the drain
    start(first, recv(d, buffer_));
    loop().stop();
    loop().run(run_mode::drained);
    EXPECT_EQ(late.received, io_result::system_error(ECANCELED));
}

TEST_P(StartReading, WaitsWithTheOthersForABuffer) {
    make_loop(two_buffers);
    fd_pair pair = unix_stream_pair();
    fd_pair another = unix_stream_pair();
    const descriptor d = attach(std::move(pair.second));
    const descriptor other = attach(std::move(another.second));
    std::vector<lease> kept;
    for (int i = 0; i < 2; ++i) {
        recorder keeps([&](recorder& r) { kept.push_back(loop().take_lease(r.operation())); });
        start(keeps, receive(other));
        send_all(another.first.get(), "x");
        ASSERT_TRUE(EngineTest::ends(keeps));
    }
    reading one(ended_, receive(d));
    begin(one);
    send_all(pair.first.get(), "hello");
    settle();
    EXPECT_FALSE(one.received);
    kept.clear();
    ASSERT_TRUE(ends(one));
    EXPECT_EQ(one.text, "hello");
}

}  // namespace
}  // namespace eddy::test::start_reading_test
