// SPDX-License-Identifier: Apache-2.0
// What is handed to the kernel.
#include "engine/lease_fixture.hpp"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <utility>
#include <vector>

#include <sys/utsname.h>

namespace eddy::test::uring_submissions_test {
namespace {

/// Multishot receives need a limit of bytes.
bool kernel_has_the_limit() {
    utsname kernel{};
    unsigned major = 0;
    unsigned minor = 0;
    return ::uname(&kernel) == 0 && std::sscanf(kernel.release, "%u.%u", &major, &minor) == 2 &&
           std::pair(major, minor) >= std::pair(6U, 17U);
}

class UringSubmissions : public LeaseTest {
protected:
    void SetUp() override {
        LeaseTest::SetUp();
        if (!kernel_has_the_limit()) {
            GTEST_SKIP() << "this kernel has no multishot receive with a limit (6.17)";
        }
    }

    /// How many entries the ring of the loop was given since it was made.
    static unsigned count() {
        namespace fs = std::filesystem;
        for (const fs::directory_entry& fd : fs::directory_iterator("/proc/self/fd")) {
            std::error_code gone;
            if (fs::read_symlink(fd.path(), gone) != "anon_inode:[io_uring]") {
                continue;
            }
            std::ifstream facts("/proc/self/fdinfo" / fd.path().filename());
            for (std::string name; facts >> name;) {
                if (unsigned value = 0; name == "SqTail:" && facts >> value) {
                    return value;
                }
            }
        }
        ADD_FAILURE() << "there is no ring";
        return 0;
    }
};
INSTANTIATE_TEST_SUITE_P(Engine, UringSubmissions, ::testing::Values(engine_kind::io_uring),
                         engine_name);

TEST_P(UringSubmissions, OneServesAPeerThatSendsBitByBit) {
    connection& c = connect(tcp_pair);
    std::size_t received = 0;
    c.reader.then([&](recorder& self) { received += self.count(); });
    start(c.reader, receive_multishot(c.d));
    settle();
    const unsigned before = count();
    for (std::size_t sent = 1; sent != 200; ++sent) {
        c.send("x");
        ASSERT_TRUE(until([&] { return received == sent; }));
    }
    EXPECT_EQ(count(), before);
}

/// Each connection answers what comes with a send of its own.
class UringAnswers : public UringSubmissions {
protected:
    using ask = std::function<io_request(const descriptor&)>;

    /// Precondition: `answer` outlives the loop's operations.
    connection& answering(recorder& answer, ask request, pair_maker make = tcp_pair) {
        connection& c = connect(make);
        c.reader.then([this, &c, &answer, request](recorder& self) {
            if (self.count() != 0) {
                start(answer, request(c.d));
                ended_inside_start += answer.ended() ? 1U : 0U;
            }
        });
        start(c.reader, receive_multishot(c.d));
        settle();
        return c;
    }
    std::size_t ended_inside_start = 0;
};
INSTANTIATE_TEST_SUITE_P(Engine, UringAnswers, ::testing::Values(engine_kind::io_uring),
                         engine_name);

TEST_P(UringAnswers, ToWhatCameAloneNeedNoSubmission) {
    recorder answer;
    connection& c = answering(answer, [](const descriptor& d) { return send(d, bytes("answer")); });
    const unsigned before = count();
    for (int i = 0; i != 10; ++i) {
        c.send("x");
        ASSERT_TRUE(ends(answer));
        EXPECT_EQ(answer.count(), 6U);
        EXPECT_EQ(recv_exactly(c.peer.get(), 6), "answer");
    }
    EXPECT_EQ(count(), before);
    EXPECT_EQ(ended_inside_start, 10U);
}

TEST_P(UringAnswers, ToSeveralAreSubmittedTogether) {
    recorder answers[3];
    const auto request = [](const descriptor& d) { return send(d, bytes("answer")); };
    for (recorder& answer : answers) {
        answering(answer, request);
    }
    const unsigned before = count();
    for (connection& c : connections) {
        c.send("x");
    }
    ASSERT_TRUE(ends(answers[0]) && ends(answers[1]) && ends(answers[2]));
    EXPECT_EQ(count() - before, 3U);
    EXPECT_EQ(ended_inside_start, 0U);
}

/// Only the first of many that are made of one piece goes out by a call of its own.
TEST_P(UringAnswers, ToManyOfWhatCameAloneAreSubmittedButForTheFirst) {
    std::deque<recorder> sends(5);
    std::deque<connection*> others;
    for (std::size_t i = 0; i != sends.size(); ++i) {
        others.push_back(&connect(tcp_pair));
    }
    connection& c = connect(tcp_pair);
    c.reader.then([&](recorder&) {
        for (std::size_t i = 0; i != sends.size(); ++i) {
            start(sends[i], send(others[i]->d, bytes("to all")));
        }
    });
    start(c.reader, receive_multishot(c.d));
    settle();
    const unsigned before = count();
    c.send("x");
    for (recorder& sent : sends) {
        ASSERT_TRUE(ends(sent));
        EXPECT_EQ(sent.count(), 6U);
    }
    EXPECT_EQ(count() - before, sends.size() - 1);
}

TEST_P(UringAnswers, ThatDoNotFitGoOnWhenThereIsRoom) {
    const std::string much = pattern(8 << 20);
    recorder answer;
    connection& c = answering(
        answer, [&](const descriptor& d) { return eddy::send_all(d, bytes(much)); },
        unix_stream_pair);
    c.send("x");
    std::string seen;
    ASSERT_TRUE(until_driven([&] {
        if (const std::size_t there = bytes_waiting(c.peer.get()); there != 0) {
            seen += recv_exactly(c.peer.get(), there);
        }
        return seen.size() >= much.size();
    }));
    EXPECT_TRUE(seen == much);
    ASSERT_TRUE(ends(answer));
    EXPECT_EQ(answer.count(), much.size());
    EXPECT_EQ(ended_inside_start, 0U);
}

TEST_P(UringAnswers, BehindAnotherSendWaitForIt) {
    const std::string much = pattern(8 << 20);
    recorder first;
    recorder answer;
    connection& c = answering(
        answer, [](const descriptor& d) { return send(d, bytes("last")); }, unix_stream_pair);
    start(first, eddy::send_all(c.d, bytes(much)));
    settle();
    c.send("x");
    std::string seen;
    ASSERT_TRUE(until_driven([&] {
        if (const std::size_t there = bytes_waiting(c.peer.get()); there != 0) {
            seen += recv_exactly(c.peer.get(), there);
        }
        return seen.size() >= much.size() + 4;
    }));
    EXPECT_TRUE(seen == much + "last");
    ASSERT_TRUE(ends(first) && ends(answer));
}

TEST_P(UringAnswers, TellOfAnErrorOnce) {
    recorder answer;
    connection& c = connect(unix_stream_pair);
    c.reader.then([&](recorder& self) {
        if (self.count() != 0) {
            c.peer.reset();
            start(answer, send(c.d, bytes("nobody")));
        }
    });
    start(c.reader, receive_multishot(c.d));
    settle();
    c.send("x");
    ASSERT_TRUE(ends(answer));
    EXPECT_EQ(answer.error(), std::errc::broken_pipe);
    EXPECT_EQ(answer.endings(), 1U);
    ASSERT_TRUE(ends(c.reader));
}

/// Each peer sends again when what it sent was received: at any time all of them want a buffer.
class UringBuffers : public UringSubmissions {
protected:
    /// How many each has got, in order; how many submissions each took.
    struct shares {
        std::vector<std::size_t> results;
        double submissions;
    };
    shares share(const loop_options& options, std::size_t held, std::size_t results) {
        constexpr std::size_t peers = 200;
        make_loop(options);
        shares found{std::vector<std::size_t>(peers), 0};
        std::size_t all = 0;
        for (std::size_t& own : found.results) {
            connection& c = connect(tcp_pair);
            c.reader.then([&, this](recorder& self) {
                kept.push_back(loop().take_lease(self.operation()));
                if (kept.size() > held) {
                    kept.erase(kept.begin());
                }
                ++own;
                if (++all < results) {
                    c.send("x");
                }
                again_ |= !self.operation().more();
            });
            start(c.reader, receive_multishot(c.d));
            c.send("x");
        }
        const unsigned before = count();
        EXPECT_TRUE(until([&] {
            restart();
            return all >= results;
        }));
        found.submissions = static_cast<double>(count() - before) / static_cast<double>(all);
        kept.clear();
        for (connection& c : connections) {
            c.reader.then([](recorder&) {});
            c.d.close();
            EXPECT_TRUE(until([&] { return !c.reader.operation().pending(); }));
        }
        std::sort(found.results.begin(), found.results.end());
        return found;
    }

private:
    void restart() {
        if (std::exchange(again_, false)) {
            for (connection& c : connections) {
                if (!c.reader.operation().pending()) {
                    start(c.reader, receive_multishot(c.d));
                }
            }
        }
    }

    bool again_ = false;
};
INSTANTIATE_TEST_SUITE_P(Engine, UringBuffers, ::testing::Values(engine_kind::io_uring),
                         engine_name);

TEST_P(UringBuffers, BecomeMoreWhereTheyAreFew) {
    const shares found =
        share({.lease_size = 64, .lease_count = 8, .lease_max = 4096}, 100, 20'000);
    EXPECT_GE(found.results.front(), 50U);
    EXPECT_LE(found.results.back(), 200U);
    EXPECT_LE(found.submissions, 0.5);
}

TEST_P(UringBuffers, AreSharedWhereTheyStayFew) {
    const shares found = share({.lease_size = 64, .lease_count = 8, .lease_max = 8}, 1, 20'000);
    EXPECT_GE(found.results.front(), 50U);
    EXPECT_LE(found.results.back(), 200U);
    EXPECT_LE(found.submissions, 4.0);
}

}  // namespace
}  // namespace eddy::test::uring_submissions_test
