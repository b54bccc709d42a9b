// SPDX-License-Identifier: Apache-2.0
// Many operations on one descriptor, and more data than fits.
#include "support/engine_fixture.hpp"

#include <algorithm>

#include <sys/socket.h>

namespace eddy::test::order_test {
namespace {

class Order : public EngineTest {
protected:
    static bool all_ended(const std::vector<std::unique_ptr<recorder>>& list) {
        return std::all_of(list.begin(), list.end(), [](const auto& r) { return r->ended(); });
    }
};
EDDY_ON_EVERY_ENGINE(Order);

TEST_P(Order, OfManyReadersOfOneStreamIsThatOfTheirStart) {
    for (const bool nonblocking : {false, true}) {
        for (const pair_maker make : {tcp_pair, unix_stream_pair, make_pipe}) {
            fd_pair pair = make();
            set_nonblocking(pair.first.get(), nonblocking);
            const descriptor d = attach(std::move(pair.first));
            std::vector<std::string> parts(26, std::string(1, '\0'));
            std::vector<std::unique_ptr<recorder>> readers;
            std::string order;
            for (std::string& part : parts) {
                readers.push_back(std::make_unique<recorder>([&](recorder&) { order += part; }));
                start(*readers.back(), read(d, bytes(part)));
            }
            settle();
            write_all(pair.second.get(), "abcdefgh");
            ASSERT_TRUE(until([&] { return order.size() == 8; }));
            write_all(pair.second.get(), "ijklmnopqrstuvwxyz");
            ASSERT_TRUE(until([&] { return all_ended(readers); }));
            EXPECT_EQ(order, "abcdefghijklmnopqrstuvwxyz");
            std::string in_place;
            for (const std::string& part : parts) {
                in_place += part;
            }
            EXPECT_EQ(in_place, "abcdefghijklmnopqrstuvwxyz");
        }
    }
}

TEST_P(Order, ASecondReaderIsServedAfterTheFirstHasReadItDry) {
    for (const pair_maker make : {tcp_pair, unix_stream_pair, make_pipe}) {
        fd_pair pair = make();
        const descriptor d = attach(std::move(pair.first));
        std::string one(64, '\0');
        std::string two(64, '\0');
        recorder first;
        recorder second;
        start(first, read(d, bytes(one)));
        start(second, read(d, bytes(two)));
        settle();
        write_all(pair.second.get(), "one");
        ASSERT_TRUE(ends(first));
        EXPECT_EQ(one.substr(0, first.count()), "one");
        settle();
        ASSERT_FALSE(second.ended());
        write_all(pair.second.get(), "two");
        ASSERT_TRUE(ends(second));
        EXPECT_EQ(two.substr(0, second.count()), "two");
    }
}

TEST_P(Order, OfManyWritersOfOneStreamIsThatOfTheirStart) {
    for (const bool nonblocking : {false, true}) {
        for (const pair_maker make : {tcp_pair, unix_stream_pair, make_pipe}) {
            fd_pair pair = make();
            set_nonblocking(pair.second.get(), nonblocking);
            const descriptor d = attach(std::move(pair.second));
            constexpr std::size_t size = 100'000;
            std::vector<std::string> parts;
            std::vector<std::unique_ptr<recorder>> writers;
            for (char c = 'a'; c <= 'z'; ++c) {
                parts.emplace_back(size, c);
            }
            for (const std::string& part : parts) {
                writers.push_back(std::make_unique<recorder>());
                start(*writers.back(), write(d, bytes(part)));
            }
            std::string got;
            ASSERT_TRUE(until_driven([&] {
                if (const std::size_t waiting = bytes_waiting(pair.first.get()); waiting != 0) {
                    got += recv_exactly(pair.first.get(), waiting);
                }
                return all_ended(writers);
            }));
            std::string expected;
            for (std::size_t i = 0; i != parts.size(); ++i) {
                ASSERT_GT(writers[i]->count(), 0U) << writers[i]->error();
                expected += parts[i].substr(0, writers[i]->count());
            }
            got += recv_exactly(pair.first.get(), expected.size() - got.size());
            EXPECT_TRUE(got == expected) << "bytes were mixed";
        }
    }
}

TEST_P(Order, ABigWriteToASlowReaderComesThroughInPieces) {
    for (const pair_maker make : {tcp_pair, unix_stream_pair, make_pipe}) {
        fd_pair pair = make();
        const descriptor d = attach(std::move(pair.second));
        std::string much(4U << 20, '\0');
        for (std::size_t i = 0; i != much.size(); ++i) {
            much[i] = static_cast<char>('a' + i * 7919 % 26);
        }
        std::size_t sent = 0;
        recorder w([&](recorder& self) {
            ASSERT_GT(self.count(), 0U) << self.error();
            sent += self.count();
            if (sent != much.size()) {
                start(self, write(d, bytes(std::string_view(much).substr(sent))));
            }
        });
        start(w, write(d, bytes(much)));
        turns_in(5ms);
        ASSERT_LT(sent, much.size()) << "there is no such buffer";
        std::string got;
        ASSERT_TRUE(until_driven(
            [&] {
                const std::size_t part =
                    std::min<std::size_t>(bytes_waiting(pair.first.get()), 30'000);
                got += recv_exactly(pair.first.get(), part);
                return got.size() == much.size();
            },
            20s));
        ASSERT_TRUE(ends(w));
        EXPECT_TRUE(got == much);
    }
}

TEST_P(Order, AReaderAndAWriterOfOneSocketDoNotDisturbEachOther) {
    for (const pair_maker make : {tcp_pair, unix_stream_pair}) {
        fd_pair pair = make();
        const descriptor d = attach(std::move(pair.first));
        const std::string much(4U << 20, 'x');
        std::string buffer(64, '\0');
        recorder w;
        std::size_t sent = 0;
        do {
            start(w, send(d, bytes(much)));
            turns_in(2ms);
            sent += w.count();
        } while (w.ended());
        recorder r;
        for (const std::string_view text : {"one", "two", "three"}) {
            start(r, recv(d, bytes(buffer)));
            settle();
            ASSERT_FALSE(r.ended());
            send_all(pair.second.get(), text);
            ASSERT_TRUE(ends(r));
            EXPECT_EQ(buffer.substr(0, r.count()), text);
            EXPECT_FALSE(w.ended());
        }
        start(r, recv(d, bytes(buffer)));
        recv_exactly(pair.second.get(), sent);
        ASSERT_TRUE(ends(w));
        EXPECT_GT(w.count(), 0U) << w.error();
        EXPECT_FALSE(r.ended());
    }
}

TEST_P(Order, ACancelledReaderLeavesTheOthersTheirPlaces) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::vector<std::string> parts(4, std::string(1, '-'));
    std::vector<std::unique_ptr<recorder>> readers;
    for (std::string& part : parts) {
        readers.push_back(std::make_unique<recorder>());
        start(*readers.back(), read(d, bytes(part)));
    }
    settle();
    loop().cancel(readers[0]->operation());
    loop().cancel(readers[2]->operation());
    ASSERT_TRUE(ends(*readers[0]));
    ASSERT_TRUE(ends(*readers[2]));
    send_all(pair.second.get(), "ab");
    ASSERT_TRUE(ends(*readers[1]));
    ASSERT_TRUE(ends(*readers[3]));
    EXPECT_EQ(parts[0] + parts[1] + parts[2] + parts[3], "-a-b");
}

TEST_P(Order, AnOperationForAllOfABufferWaitsForAll) {
    for (const bool nonblocking : {false, true}) {
        fd_pair pair = tcp_pair();
        set_nonblocking(pair.first.get(), nonblocking);
        const descriptor d = attach(std::move(pair.first));
        std::string buffer(9, '\0');
        recorder r;
        start(r, recv_all(d, bytes(buffer)));
        for (const std::string_view text : {"abc", "def"}) {
            send_all(pair.second.get(), text);
            turns_in(5ms);
            ASSERT_FALSE(r.ended());
        }
        send_all(pair.second.get(), "ghi");
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(buffer, "abcdefghi");

        const std::string much(8U << 20, 'x');
        recorder w;
        start(w, send_all(d, bytes(much)));
        turns_in(5ms);
        ASSERT_FALSE(w.ended());
        std::string got;
        ASSERT_TRUE(until_driven(
            [&] {
                got += recv_exactly(pair.second.get(), bytes_waiting(pair.second.get()));
                return w.ended();
            },
            20s));
        EXPECT_EQ(w.count(), much.size());
    }
}

TEST_P(Order, AnOperationForAllThatIsCancelledTellsHowMuchItMoved) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::string buffer(9, '\0');
    recorder r;
    start(r, recv_all(d, bytes(buffer)));
    send_all(pair.second.get(), "abc");
    turns_in(5ms);
    loop().cancel(r.operation());
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.count() + bytes_waiting(d.native_handle()), 3U) << r.error();
}

}  // namespace
}  // namespace eddy::test::order_test
