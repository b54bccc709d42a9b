// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/call.hpp"
#include "support/engine_fixture.hpp"
#include "support/pattern.hpp"

#include <cerrno>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace eddy::test {

inline std::string text_of(const lease& l) {
    return {reinterpret_cast<const char*>(l.data().data()), l.size()};
}

inline constexpr loop_options two_buffers{.lease_size = 4096, .lease_count = 2, .lease_max = 2};

/// Receives into buffers that the loop lends.
class LeaseTest : public EngineTest {
protected:
    /// An attached descriptor, its peer, and a receive that keeps its lease in `kept`.
    struct connection {
        connection(descriptor own, unique_fd other, std::function<void(recorder&)> keep)
            : d(std::move(own)), peer(std::move(other)), reader(std::move(keep)) {}
        void send(std::string_view text) const { write_all(peer.get(), text); }

        descriptor d;
        unique_fd peer;
        recorder reader;
    };

    void TearDown() override {
        kernel::fail_nothing();
        drop_connections();
        kept.clear();
        EngineTest::TearDown();
    }

    connection& connect(pair_maker make = unix_stream_pair) {
        fd_pair pair = make();
        return connections.emplace_back(attach(std::move(pair.first)), std::move(pair.second),
                                        [this](recorder& r) {
                                            kept.push_back(loop().take_lease(r.operation()));
                                            EXPECT_EQ(kept.back().size(), r.count());
                                        });
    }
    void drop_connections() { connections.clear(); }
    void begin(connection& c, time_point deadline = never) {
        start(c.reader, receive(c.d), deadline);
    }
    /// One that waits, without a buffer.
    connection& waiting(pair_maker make = unix_stream_pair) {
        connection& c = connect(make);
        begin(c);
        settle();
        EXPECT_FALSE(c.reader.ended()) << c.reader.error();
        EXPECT_EQ(out(), 0U);
        return c;
    }
    /// Its lease is the last of `kept`.
    void receive_from(connection& c) {
        begin(c);
        ASSERT_TRUE(ends(c.reader));
    }
    /// What the next receive brings; the buffer goes back.
    std::string received(const descriptor& d) {
        std::string text;
        recorder r([&](recorder& self) {
            text = text_of(loop().take_lease(self.operation()));
            EXPECT_EQ(self.count(), text.size()) << self.error();
        });
        start(r, receive(d));
        EXPECT_TRUE(ends(r));
        return text;
    }
    /// Connections that have something to read, their number. `lent` of them get a buffer; the last
    /// one starves.
    connection& starve(std::size_t lent = 2, std::size_t count = 3) {
        for (std::size_t i = 0; i != count; ++i) {
            connection& c = connect();
            c.send(std::to_string(i));
            begin(c);
            if (i + 1 <= lent) {
                EXPECT_TRUE(ends(c.reader));
            }
        }
        settle();
        EXPECT_EQ(kept.size(), lent);
        EXPECT_EQ(out(), lent);
        return connections.back();
    }
    /// Called on the loop's thread, which has nothing else to do afterwards.
    template <class Function>
    void when_ready_call(Function function) {
        connection& c = connect(make_pipe);
        c.send("x");
        c.reader.then([function](recorder&) { function(); });
        start(c.reader, wait(c.d, interest::readable));
    }
    /// `c` was starving, and has got a buffer.
    void expect_fed(connection& c, std::string_view text) {
        ASSERT_TRUE(ends(c.reader));
        EXPECT_EQ(text_of(kept.back()), text);
    }
    std::uint64_t out() { return loop().counters().leases_out; }

    std::vector<lease> kept;
    std::deque<connection> connections;
};

/// The same where io_uring cannot pick buffers.
template <class Test>
class on_old_kernels : public Test {
protected:
    void SetUp() override {
        Test::SetUp();
        kernel::fail(kernel::call::uring_buffers, EINVAL, 0, 1000);
    }
};

}  // namespace eddy::test
