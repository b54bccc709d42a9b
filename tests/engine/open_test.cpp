// SPDX-License-Identifier: Apache-2.0
// Opening, closing and syncing as operations; what is no ordinary file.
#include "support/engine_fixture.hpp"

#include <algorithm>

#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

namespace eddy::test::open_test {
namespace {

class Open : public EngineTest {};
EDDY_ON_EVERY_ENGINE(Open);

TEST_P(Open, MakesAFileThatIsClosedOnExec) {
    const scratch_directory directory;
    const std::string path = directory.path("new");
    recorder r;
    start(r, open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0640));
    ASSERT_TRUE(ends(r));
    const unique_fd fd(r.result().fd());
    ASSERT_TRUE(fd) << r.error();
    EXPECT_TRUE(is_cloexec(fd.get()));
    write_all(fd.get(), "text");
    EXPECT_EQ(content_of(fd.get()), "text");
}

TEST_P(Open, OfAMissingFileFails) {
    const scratch_directory directory;
    const std::string path = directory.path("missing");
    recorder r;
    start(r, open(path.c_str(), O_RDONLY));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::no_such_file_or_directory);
}

TEST_P(Open, IsRelativeToADirectory) {
    const scratch_directory directory;
    directory.file("f", "inside");
    const unique_fd at(::open(directory.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    recorder r;
    start(r, open("f", O_RDONLY, 0, at.get()));
    ASSERT_TRUE(ends(r));
    const unique_fd fd(r.result().fd());
    ASSERT_TRUE(fd) << r.error();
    EXPECT_EQ(content_of(fd.get()), "inside");
}

TEST_P(Open, ObeysTheLimitsOfResolution) {
    const scratch_directory directory;
    directory.file("f", "inside");
    ASSERT_EQ(::symlink("f", directory.path("link").c_str()), 0);
    const unique_fd at(::open(directory.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    recorder fine;
    start(fine, open("f", O_RDONLY, 0, at.get(), RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS));
    recorder link;
    start(link, open("link", O_RDONLY, 0, at.get(), RESOLVE_NO_SYMLINKS));
    recorder above;
    start(above, open("../f", O_RDONLY, 0, at.get(), RESOLVE_BENEATH));
    ASSERT_TRUE(ends(fine));
    ASSERT_TRUE(ends(link));
    ASSERT_TRUE(ends(above));
    const unique_fd fd(fine.result().fd());
    EXPECT_TRUE(fd) << fine.error();
    EXPECT_EQ(link.error(), std::errc::too_many_symbolic_link_levels);
    EXPECT_EQ(above.error(), std::errc::cross_device_link);
}

TEST_P(Open, FsyncOfAFileSucceedsAndOfAPipeDoesNot) {
    const scratch_directory directory;
    const descriptor file = attach(directory.file("f", "x"));
    for (const bool data_only : {false, true}) {
        recorder r;
        start(r, fsync(file, data_only));
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.result(), io_result::value(0)) << r.error();
    }
    fd_pair pipe = make_pipe();
    const descriptor d = attach(std::move(pipe.second));
    recorder r;
    start(r, fsync(d));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::invalid_argument);
}

TEST_P(Open, CloseCompletesWhenTheDescriptorIsClosed) {
    fd_pair pair = tcp_pair();
    descriptor d = attach(std::move(pair.first));
    const int number = d.native_handle();
    recorder r;
    start(r, close(d));
    EXPECT_FALSE(d);
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.result(), io_result::value(0)) << r.error();
    EXPECT_FALSE(is_open(number));
    EXPECT_EQ(read_to_end(pair.second.get()), "");
}

TEST_P(Open, CloseEndsWhatIsPendingFirst) {
    fd_pair pair = tcp_pair();
    descriptor d = attach(std::move(pair.first));
    const int number = d.native_handle();
    std::string buffer(8, '\0');
    std::string order;
    recorder reader([&](recorder&) { order += "r"; });
    start(reader, recv(d, bytes(buffer)));
    settle();
    recorder closer([&](recorder&) {
        order += "c";
        EXPECT_FALSE(is_open(number));
    });
    start(closer, close(d));
    ASSERT_TRUE(ends(closer));
    ASSERT_TRUE(ends(reader));
    EXPECT_EQ(order, "rc");
    EXPECT_EQ(reader.error(), std::errc::operation_canceled);
    EXPECT_EQ(closer.result(), io_result::value(0));
}

TEST_P(Open, CloseOfNothingIsAnError) {
    descriptor d;
    recorder r;
    start(r, close(d));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::bad_file_descriptor);
}

TEST_P(Open, NullAndZeroAreReadAndWritten) {
    const descriptor null = attach(unique_fd(::open("/dev/null", O_RDWR | O_CLOEXEC)));
    const descriptor zero = attach(unique_fd(::open("/dev/zero", O_RDWR | O_CLOEXEC)));
    std::string buffer(5, 'x');
    recorder r;
    start(r, read(null, bytes(buffer)));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.result(), io_result::value(0)) << r.error();
    start(r, read(zero, bytes(buffer)));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.count(), 5U) << r.error();
    EXPECT_EQ(buffer, std::string(5, '\0'));
    for (const descriptor* d : {&null, &zero}) {
        start(r, write(*d, bytes("gone")));
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.count(), 4U) << r.error();
    }
}

TEST_P(Open, ADirectoryCannotBeRead) {
    const scratch_directory directory;
    const descriptor d =
        attach(unique_fd(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
    std::string buffer(8, '\0');
    recorder r;
    start(r, read(d, bytes(buffer)));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::is_a_directory);
}

TEST_P(Open, ReadsOfAFileWithoutAnOffsetAreInOrder) {
    const scratch_directory directory;
    const descriptor d = attach(directory.file("f", "abcdefghijklmnopqrst"));
    std::vector<std::string> parts(10, std::string(2, '\0'));
    std::vector<std::unique_ptr<recorder>> readers;
    std::string order;
    for (std::string& part : parts) {
        readers.push_back(std::make_unique<recorder>([&](recorder&) { order += part; }));
        start(*readers.back(), read(d, bytes(part)));
    }
    ASSERT_TRUE(until([&] { return order.size() == 20; }));
    EXPECT_EQ(order, "abcdefghijklmnopqrst");
}

TEST_P(Open, ManyReadsWithAnOffsetEachGetTheirPart) {
    constexpr std::size_t count = 300;
    const scratch_directory directory;
    std::string content;
    for (std::size_t i = 0; i != count; ++i) {
        content += std::to_string(1000 + i);
    }
    const descriptor d = attach(directory.file("f", content));
    std::vector<std::string> parts(count, std::string(4, '\0'));
    std::vector<std::unique_ptr<recorder>> readers;
    for (std::size_t i = 0; i != count; ++i) {
        readers.push_back(std::make_unique<recorder>());
        start(*readers.back(), read(d, bytes(parts[i]), static_cast<std::int64_t>(4 * i)));
    }
    ASSERT_TRUE(until([&] {
        return std::all_of(readers.begin(), readers.end(), [](auto& r) { return r->ended(); });
    }));
    std::string all;
    for (const std::string& part : parts) {
        all += part;
    }
    EXPECT_EQ(all, content);
}

}  // namespace
}  // namespace eddy::test::open_test
