// SPDX-License-Identifier: Apache-2.0
// An fd that is given back and attached again, whatever becomes of its number in between.
#include "kernel/call.hpp"
#include "support/engine_fixture.hpp"

#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace eddy::test::reattach_test {
namespace {

class Reattach : public EngineTest {
protected:
    /// Puts the file of `fd` at `number`, in place of what is there.
    static void put_at(int number, const unique_fd& fd) {
        ASSERT_EQ(::dup3(fd.get(), number, O_CLOEXEC), number);
    }
    unique_fd release(descriptor& d) {
        unique_fd fd;
        EXPECT_FALSE(d.release(fd));
        return fd;
    }
    /// Data that comes after the reader has begun to wait reaches it.
    void expect_connected(const descriptor& d, int writer) {
        std::string buffer(8, '\0');
        recorder reader;
        start(reader, read(d, bytes(buffer)));
        settle();
        ASSERT_FALSE(reader.ended());
        write_all(writer, "late");
        ASSERT_TRUE(ends(reader));
        EXPECT_EQ(buffer.substr(0, reader.count()), "late");
    }
};
EDDY_ON_EVERY_ENGINE(Reattach);

TEST_P(Reattach, InOneTurnHearsOfWhatIsThereAndOfWhatComes) {
    fd_pair pipe = make_pipe();
    descriptor d = attach(std::move(pipe.first));
    write_all(pipe.second.get(), "early");
    settle();  // its event is harvested before it is released
    for (int i = 0; i != 3; ++i) {
        d = attach(release(d));
    }
    EXPECT_EQ(d.kind(), descriptor_kind::pipe);
    recorder waiter;
    start(waiter, wait(d, interest::readable));
    ASSERT_TRUE(ends(waiter));
    std::string buffer(8, '\0');
    recorder reader;
    start(reader, read(d, bytes(buffer)));
    ASSERT_TRUE(ends(reader));
    EXPECT_EQ(buffer.substr(0, reader.count()), "early");
    expect_connected(d, pipe.second.get());
}

/// The first one is closed before it was removed, and what it had registered lives on.
TEST_P(Reattach, OfADuplicateThatHasTheSameNumberInALaterTurn) {
    fd_pair pipe = make_pipe();
    const int number = unique_fd(::dup(pipe.first.get())).get();
    for (int i = 0; i != 3; ++i) {
        unique_fd copy(::dup(pipe.first.get()));
        ASSERT_EQ(copy.get(), number);
        descriptor d;
        ASSERT_FALSE(descriptor::attach(loop(), copy, d)) << i;
        expect_connected(d, pipe.second.get());
        release(d).reset();
        settle();
    }
}

TEST_P(Reattach, AsAFileThenAsWhatItIs) {
    fd_pair pipe = make_pipe();
    descriptor d = attach(std::move(pipe.first));
    settle();
    unique_fd fd = release(d);
    const int number = fd.get();
    d = attach(std::move(fd), {.kind = descriptor_kind::file});
    d.close();
    settle();
    fd_pair other = make_pipe();
    if (other.first.get() != number) {
        put_at(number, other.first);
        other.first.reset(number);
    }
    d = attach(std::move(other.first));
    expect_connected(d, other.second.get());
}

TEST_P(Reattach, InOneTurnAsksTheKernelForLittle) {
    fd_pair pipe = make_pipe();
    set_nonblocking(pipe.first.get(), true);
    descriptor d = attach(std::move(pipe.first));
    settle();
    const std::uint64_t before = kernel::calls_made();
    d = attach(release(d));
    // Whether it is still the same file (twice, once by the poller), and its mode.
    EXPECT_LE(kernel::calls_made() - before, on(engine_kind::epoll) ? 3U : 4U);
    expect_connected(d, pipe.second.get());
}

TEST_P(Reattach, OfAnotherFileInItsPlaceHearsOfThat) {
    fd_pair old = make_pipe();
    fd_pair other = make_pipe();
    const unique_fd duplicate(::fcntl(old.first.get(), F_DUPFD_CLOEXEC, 0));
    descriptor d = attach(std::move(old.first));
    settle();
    unique_fd fd = release(d);
    put_at(fd.get(), other.first);
    d = attach(std::move(fd));
    expect_connected(d, other.second.get());
    write_all(old.second.get(), "not for it");
    settle();
    expect_connected(d, other.second.get());
}

TEST_P(Reattach, OfTheFirstFileAfterAnotherHearsOfTheFirst) {
    fd_pair first = make_pipe();
    fd_pair second = make_pipe();
    const unique_fd keeps_first(::fcntl(first.first.get(), F_DUPFD_CLOEXEC, 0));
    descriptor d = attach(std::move(first.first));
    settle();
    unique_fd fd = release(d);
    put_at(fd.get(), second.first);
    d = attach(std::move(fd));
    fd = release(d);
    put_at(fd.get(), keeps_first);
    d = attach(std::move(fd));
    expect_connected(d, first.second.get());
    d = attach(release(d));
    expect_connected(d, first.second.get());
}

TEST_P(Reattach, FindsOutTheKindOfAnotherFileInItsPlace) {
    fd_pair pipe = make_pipe();
    fd_pair socket = tcp_pair();
    descriptor d = attach(std::move(pipe.first));
    unique_fd fd = release(d);
    put_at(fd.get(), socket.first);
    d = attach(std::move(fd));
    EXPECT_EQ(d.kind(), descriptor_kind::tcp);
    d = attach(release(d));
    EXPECT_EQ(d.kind(), descriptor_kind::tcp);
    scratch_directory directory;
    fd = release(d);
    put_at(fd.get(), directory.file("plain", "x"));
    d = attach(std::move(fd));
    EXPECT_EQ(d.kind(), descriptor_kind::file);
}

TEST_P(Reattach, AfterACloseIsRefused) {
    fd_pair pipe = make_pipe();
    descriptor d = attach(std::move(pipe.first));
    settle();
    unique_fd fd = release(d);
    const int number = fd.get();
    fd.reset();
    unique_fd closed(number);
    EXPECT_EQ(descriptor::attach(loop(), closed, d), std::errc::bad_file_descriptor);
    static_cast<void>(closed.release());
    settle();
}

TEST_P(Reattach, SetsTheModeThatWasChangedMeanwhile) {
    fd_pair pipe = make_pipe();
    set_nonblocking(pipe.first.get(), true);
    descriptor d = attach(std::move(pipe.first), {.nonblocking = true});
    unique_fd fd = release(d);
    EXPECT_TRUE(is_nonblocking(fd.get()));
    set_nonblocking(fd.get(), false);
    d = attach(std::move(fd), {.nonblocking = true});
    EXPECT_TRUE(is_nonblocking(d.native_handle()));
    fd = release(d);
    EXPECT_FALSE(is_nonblocking(fd.get())) << "that is how it came";
}

TEST_P(Reattach, OfManyAtOnceHearsOfAll) {
    std::vector<fd_pair> pipes(100);
    std::vector<descriptor> attached;
    for (fd_pair& pipe : pipes) {
        pipe = make_pipe();
        attached.push_back(attach(std::move(pipe.first)));
    }
    settle();
    std::vector<unique_fd> released;
    for (descriptor& d : attached) {
        released.push_back(release(d));
    }
    for (std::size_t i = pipes.size(); i-- != 0;) {
        attached[i] = attach(std::move(released[i]));
    }
    for (std::size_t i = 0; i != pipes.size(); ++i) {
        expect_connected(attached[i], pipes[i].second.get());
    }
}

/// What was released and closed, while a duplicate lives on, may wake the loop, but not for ever,
/// and disturbs nobody.
TEST_P(Reattach, ThatDoesNotHappenLeavesOthersAlone) {
    fd_pair pipe = make_pipe();
    fd_pair other = make_pipe();
    const descriptor stays = attach(std::move(other.first));
    const unique_fd duplicate(::fcntl(pipe.first.get(), F_DUPFD_CLOEXEC, 0));
    set_nonblocking(duplicate.get(), true);
    descriptor d = attach(std::move(pipe.first));
    settle();
    release(d).reset();
    std::string buffer(8, '\0');
    recorder reader;
    start(reader, read(stays, bytes(buffer)));
    for (int i = 0; i != 200; ++i) {
        write_all(pipe.second.get(), "x");
        settle();
        char byte = 0;
        ASSERT_EQ(::read(duplicate.get(), &byte, 1), 1);
    }
    EXPECT_FALSE(reader.ended());
    write_all(other.second.get(), "x");
    ASSERT_TRUE(ends(reader));
    EXPECT_EQ(reader.count(), 1U);
    expect_connected(stays, other.second.get());
}

TEST_P(Reattach, IsNotWaitedForWhereAHostWaits) {
    if (on(engine_kind::poll)) {
        return;  // has no handle
    }
    const int handle = loop().native_handle();
    fd_pair pipe = make_pipe();
    const unique_fd duplicate(::fcntl(pipe.first.get(), F_DUPFD_CLOEXEC, 0));
    descriptor d = attach(std::move(pipe.first));
    settle();
    release(d).reset();
    settle();
    write_all(pipe.second.get(), "x");
    EXPECT_FALSE(becomes_ready(handle, POLLIN, 0));
}

}  // namespace
}  // namespace eddy::test::reattach_test
