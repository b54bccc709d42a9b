// SPDX-License-Identifier: Apache-2.0
// Where a short read is not the end of what is there. A reader that waited for the next event after
// one would hang.
#include "support/engine_fixture.hpp"
#include "support/passed_fd.hpp"

#include <cstring>

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

namespace eddy::test::short_read_test {
namespace {

class ShortRead : public EngineTest {
protected:
    /// Reads with large buffers until `expected` bytes have come.
    std::string read_until(const descriptor& d, std::size_t expected) {
        std::string all;
        std::string buffer(4096, '\0');
        while (all.size() < expected) {
            recorder r;
            start(r, read(d, bytes(buffer)));
            if (!ends(r) || r.count() == 0) {
                break;
            }
            all += buffer.substr(0, r.count());
        }
        return all;
    }
};
EDDY_ON_EVERY_ENGINE(ShortRead);

TEST_P(ShortRead, OfAUnixStreamStopsAtAPassedDescriptor) {
    fd_pair pair = unix_stream_pair();
    const descriptor d = attach(std::move(pair.first));
    std::string buffer(64, '\0');
    recorder warm;  // so that the readiness below is an event that is used up
    start(warm, recv(d, bytes(buffer)));
    settle();
    send_with_descriptor(pair.second.get(), "one", pair.second.get());
    send_with_descriptor(pair.second.get(), "two", pair.second.get());
    send_all(pair.second.get(), "three");
    ASSERT_TRUE(ends(warm));
    EXPECT_EQ(buffer.substr(0, warm.count()), "one");
    EXPECT_EQ(read_until(d, 8), "twothree");
}

TEST_P(ShortRead, OfATerminalStopsAtTheEndOfALine) {
    fd_pair pty = make_pty();
    const descriptor d = attach(std::move(pty.second));
    std::string buffer(64, '\0');
    recorder r;
    start(r, read(d, bytes(buffer)));
    settle();
    ASSERT_FALSE(r.ended());
    write_all(pty.first.get(), "one\ntwo\nthree\n");
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(buffer.substr(0, r.count()), "one\n");
    EXPECT_EQ(read_until(d, 10), "two\nthree\n");
}

TEST_P(ShortRead, OfTcpStopsAtTheMarkOfUrgentData) {
    for (int round = 0; round != 2; ++round) {
        fd_pair pair = tcp_pair();
        const descriptor d = attach(std::move(pair.first));
        std::string buffer(64, '\0');
        recorder r;
        start(r, recv(d, bytes(buffer)));
        settle();
        send_all(pair.second.get(), "before");
        if (round == 1) {
            ASSERT_TRUE(ends(r));  // urgent data comes to a socket that was read dry
            buffer.assign(64, '\0');
            start(r, recv(d, bytes(buffer)));
            send_all(pair.second.get(), "before");
        }
        ASSERT_EQ(::send(pair.second.get(), "!", 1, MSG_OOB), 1);
        send_all(pair.second.get(), "after");
        ASSERT_TRUE(ends(r));
        ASSERT_EQ(buffer.substr(0, r.count()), "before");
        EXPECT_EQ(read_until(d, 5), "after");
    }
}

TEST_P(ShortRead, OfInotifyStopsBeforeTheEventThatDoesNotFit) {
    const scratch_directory directory;
    const descriptor d = attach(unique_fd(::inotify_init1(IN_CLOEXEC)));
    ASSERT_GE(::inotify_add_watch(d.native_handle(), directory.path().c_str(), IN_CREATE), 0);
    // Room for one event and a half.
    std::string buffer(48, '\0');
    recorder r;
    start(r, read(d, bytes(buffer)));
    settle();
    ASSERT_FALSE(r.ended());
    for (const char* name : {"a", "b", "c"}) {
        directory.file(name);
    }
    std::string names;
    while (names.size() != 3) {
        ASSERT_TRUE(ends(r));
        ASSERT_GT(r.count(), 0U) << r.error();
        for (std::size_t at = 0; at < r.count();) {
            inotify_event event{};
            std::memcpy(&event, buffer.data() + at, sizeof event);
            names += buffer[at + sizeof event];
            at += sizeof event + event.len;
        }
        if (names.size() != 3) {
            start(r, read(d, bytes(buffer)));
        }
    }
    EXPECT_EQ(names, "abc");
}

TEST_P(ShortRead, IntoASmallBufferLeavesTheRestToTheNextOne) {
    for (const pair_maker make : {tcp_pair, unix_stream_pair, make_pipe}) {
        fd_pair pair = make();
        const descriptor d = attach(std::move(pair.first));
        std::string buffer(3, '\0');
        recorder r;
        start(r, read(d, bytes(buffer)));
        settle();
        write_all(pair.second.get(), "abcdefgh");
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(buffer, "abc");
        EXPECT_EQ(read_until(d, 5), "defgh");
    }
}

TEST_P(ShortRead, WithPeekLeavesTheDataForTheNextOne) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::string buffer(64, '\0');
    recorder r;
    start(r, recv(d, bytes(buffer), MSG_PEEK));
    settle();
    send_all(pair.second.get(), "abc");
    ASSERT_TRUE(ends(r));
    for (int i = 0; i != 2; ++i) {
        start(r, recv(d, bytes(buffer), MSG_PEEK));
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.count(), 3U);
    }
    EXPECT_EQ(read_until(d, 3), "abc");
}

}  // namespace
}  // namespace eddy::test::short_read_test
