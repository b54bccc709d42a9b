// SPDX-License-Identifier: Apache-2.0
#include "io/io_fixture.hpp"
#include "support/pattern.hpp"

#include <eddy/ex/just.hpp>
#include <eddy/ex/let_value.hpp>
#include <eddy/ex/when_all.hpp>
#include <eddy/io/file.hpp>

#include <csignal>

#include <sys/resource.h>

namespace eddy::test::file_test {
namespace {

class FileTest : public IoTest {
protected:
    file opened(const char* name, int flags = O_RDWR | O_CREAT) {
        return run(file::open(loop(), directory_.path(name), flags));
    }

    scratch_directory directory_;
};

TEST_P(FileTest, MakesWritesAndReadsBack) {
    file made = opened("f");
    EXPECT_TRUE(is_cloexec(made.native_handle()));
    EXPECT_EQ(run(made.write(bytes("hello world"))), 11U);
    std::int64_t position = -1;
    ASSERT_FALSE(made.seek(6, seek_from::begin, &position));
    EXPECT_EQ(position, 6);
    char buffer[16];
    EXPECT_EQ(run(made.read_some(bytes(buffer))), 5U);
    EXPECT_EQ(std::string(buffer, 5), "world");
    EXPECT_EQ(run(made.read_some(bytes(buffer))), 0U);
    EXPECT_EQ(run(made.read(std::span<std::byte>())), 0U);
}

TEST_P(FileTest, ReadsAndWritesVectorsAtItsPosition) {
    const file made = opened("f");
    std::string hello = "hello ";
    std::string world = "world";
    const iovec parts[] = {{hello.data(), hello.size()}, {world.data(), world.size()}};
    EXPECT_EQ(run(made.write_some(parts)), 11U);
    EXPECT_EQ(content_of(made.native_handle()), "hello world");
    ASSERT_FALSE(made.seek(3));
    char first[4];
    char second[16];
    const iovec room[] = {{first, sizeof first}, {second, sizeof second}};
    EXPECT_EQ(run(made.read_some(room)), 8U);
    EXPECT_EQ(std::string(first, 4) + std::string(second, 4), "lo world");
    EXPECT_EQ(run(made.read_some(room)), 0U) << "the end of the file";
}

TEST_P(FileTest, NothingLeadsOutOfTheDirectoryItIsOpenedBeneath) {
    ASSERT_EQ(::mkdir(directory_.path("in").c_str(), 0700), 0);
    run(opened("in/f").write(bytes("inside")));
    run(opened("out").write(bytes("outside")));
    ASSERT_EQ(::symlink("../out", directory_.path("in/link").c_str()), 0);
    const file in = opened("in", O_RDONLY | O_DIRECTORY);
    char buffer[16];
    EXPECT_EQ(run(run(in.open_beneath("f", O_RDONLY)).read(bytes(buffer))), 6U);
    for (const std::string& path :
         {std::string("../out"), std::string("link"), std::string("/"), directory_.path("in/f")}) {
        EXPECT_EQ(error_of(in.open_beneath(path, O_RDONLY)), std::errc::cross_device_link) << path;
    }
    EXPECT_EQ(error_of(in.open_beneath("absent", O_RDONLY)), std::errc::no_such_file_or_directory);
    EXPECT_EQ(error_of(file().open_beneath("f", O_RDONLY)), std::errc::bad_file_descriptor);
}

TEST_P(FileTest, OffsetsLeaveThePositionAlone) {
    file made = opened("f");
    run(made.write_at(0, bytes("0123456789")));
    run(made.write_some_at(3, bytes("xyz")));
    char buffer[4];
    EXPECT_EQ(run(made.read_at(2, bytes(buffer))), 4U);
    EXPECT_EQ(std::string(buffer, 4), "2xyz");
    EXPECT_EQ(run(made.read_some_at(8, bytes(buffer))), 2U);
    EXPECT_EQ(run(made.read_at(100, bytes(buffer))), 0U);
    EXPECT_EQ(run(made.read(bytes(buffer))), 4U);
    EXPECT_EQ(std::string(buffer, 4), "012x");
    std::int64_t position = -1;
    ASSERT_FALSE(made.seek(0, seek_from::position, &position));
    EXPECT_EQ(position, 4);
}

TEST_P(FileTest, LargeTransfersAreWhole) {
    file made = opened("f");
    std::string content(3'000'000, '\0');
    for (std::size_t i = 0; i != content.size(); ++i) {
        content[i] = static_cast<char>(i * 13 + i / 4093);
    }
    EXPECT_EQ(run(made.write(bytes(content))), content.size());
    std::string back(content.size() + 10, '\0');
    EXPECT_EQ(run(made.read_at(0, bytes(back))), content.size());
    back.resize(content.size());
    EXPECT_TRUE(back == content);
}

/// As a full disk would, but here for any user: a write is cut, and the next one fails.
class limited_files {
public:
    explicit limited_files(rlim_t size) {
        EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
        const rlimit limit{size, before_.rlim_max};
        EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    }
    limited_files(const limited_files&) = delete;
    limited_files& operator=(const limited_files&) = delete;
    ~limited_files() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        ::signal(SIGXFSZ, handler_);
    }

private:
    rlimit before_{};
    sighandler_t handler_ = ::signal(SIGXFSZ, SIG_IGN);
};

TEST_P(FileTest, WhatDoesNotFitIsAnErrorAndSpoilsNothing) {
    const file made = opened("f");
    const std::string text = pattern(12'000);
    const auto piece = [&](std::size_t at) { return bytes(text).subspan(at, 1000); };
    {
        const limited_files limit(8192);
        for (std::size_t at = 0; at != 8000; at += 1000) {
            EXPECT_EQ(run(made.write(piece(at))), 1000U);
        }
        EXPECT_EQ(error_of(made.write(piece(8000))), std::errc::file_too_large);
        EXPECT_EQ(error_of(made.write(piece(9000))), std::errc::file_too_large);
    }
    std::int64_t position = -1;
    ASSERT_FALSE(made.seek(0, seek_from::position, &position));
    EXPECT_EQ(position, 8192);
    EXPECT_EQ(content_of(made.native_handle()), text.substr(0, 8192));
}

TEST_P(FileTest, WhatIsAppendedMovesThePositionToTheEnd) {
    run(opened("f").write(bytes(pattern(8000))));
    const file made = opened("f", O_RDWR | O_APPEND);
    std::int64_t position = -1;
    EXPECT_EQ(run(made.write(bytes("12345"))), 5U);
    ASSERT_FALSE(made.seek(0, seek_from::position, &position));
    EXPECT_EQ(position, 8005);
    ASSERT_FALSE(made.seek(0));
    {
        const limited_files limit(8192);
        EXPECT_EQ(error_of(made.write(bytes(pattern(1000)))), std::errc::file_too_large);
    }
    ASSERT_FALSE(made.seek(0, seek_from::position, &position));
    EXPECT_EQ(position, 8192);
}

TEST_P(FileTest, SharesThePositionWithOthers) {
    const file made = opened("f");
    const auto others = [&] {
        write_all(made.native_handle(), "theirs ");
        return ex::just();
    };
    run(ex::when_all(made.write(bytes("ours ")), ex::just() | ex::let_value(others)));
    const std::string content = content_of(made.native_handle());
    EXPECT_TRUE(content == "ours theirs " || content == "theirs ours ") << content;
}

TEST_P(FileTest, SizeStatusAndTruncation) {
    file made = opened("f");
    run(made.write(bytes("0123456789")));
    std::uint64_t size = 0;
    ASSERT_FALSE(made.size(size));
    EXPECT_EQ(size, 10U);
    ASSERT_FALSE(made.truncate(4));
    struct stat status{};
    ASSERT_FALSE(made.status(status));
    EXPECT_EQ(status.st_size, 4);
    EXPECT_TRUE(S_ISREG(status.st_mode));
    EXPECT_EQ(made.truncate(UINT64_MAX), std::errc::file_too_large);
    EXPECT_EQ(made.seek(-1), std::errc::invalid_argument);
}

TEST_P(FileTest, Syncs) {
    file made = opened("f");
    run(made.write(bytes("x")));
    run(made.datasync());
    run(made.sync());
}

TEST_P(FileTest, ThePathIsCopied) {
    std::string path = directory_.path("copied");
    auto opening = file::open(loop(), path, O_RDWR | O_CREAT, 0600);
    path.assign(path.size(), '?');
    file made = run(std::move(opening));
    struct stat status{};
    ASSERT_FALSE(made.status(status));
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    EXPECT_TRUE(opened("copied", O_RDONLY));
}

TEST_P(FileTest, ShortPathsAreCopiedToo) {
    EXPECT_TRUE(run(file::open(loop(), "/", O_RDONLY | O_DIRECTORY)));
}

TEST_P(FileTest, BadPathsAreErrors) {
    EXPECT_EQ(error_of(file::open(loop(), directory_.path("none"), O_RDONLY)),
              std::errc::no_such_file_or_directory);
    EXPECT_EQ(error_of(file::open(loop(), "", O_RDONLY)), std::errc::no_such_file_or_directory);
    EXPECT_EQ(error_of(file::open(loop(), std::string(100'000, 'x'), O_RDONLY)),
              std::errc::filename_too_long);
    EXPECT_EQ(error_of(file::open(loop(), directory_.path() + std::string("\0/x", 3), O_RDONLY)),
              std::errc::invalid_argument);
    EXPECT_EQ(error_of(file::open(loop(), directory_.path(), O_WRONLY)), std::errc::is_a_directory);
}

TEST_P(FileTest, WrongUseIsAnError) {
    const unique_fd content = directory_.file("f", "abc");
    file readable = opened("f", O_RDONLY);
    EXPECT_EQ(error_of(readable.write(bytes("x"))), bad_fd);
    EXPECT_EQ(readable.truncate(0), std::errc::invalid_argument);
    file none;
    char buffer[4];
    std::uint64_t size = 0;
    EXPECT_EQ(error_of(none.read(bytes(buffer))), bad_fd);
    EXPECT_EQ(error_of(none.sync()), bad_fd);
    EXPECT_EQ(none.size(size), bad_fd);
    EXPECT_EQ(none.seek(0), bad_fd);
}

TEST_P(FileTest, ANegativeOffsetIsAnError) {
    const unique_fd content = directory_.file("f", "abc");
    file both = opened("f", O_RDWR);
    char buffer[4];
    EXPECT_EQ(error_of(both.read_at(-2, bytes(buffer))), std::errc::invalid_argument);
    EXPECT_EQ(error_of(both.read_some_at(-5, bytes(buffer))), std::errc::invalid_argument);
    EXPECT_EQ(error_of(both.write_at(-2, bytes("x"))), std::errc::invalid_argument);
    EXPECT_EQ(content_of(content.get()), "abc");
}

TEST_P(FileTest, Appends) {
    file log = opened("log", O_WRONLY | O_CREAT | O_APPEND);
    run(log.write(bytes("one ")));
    run(log.write(bytes("two")));
    run(log.close());
    file back = opened("log", O_RDONLY);
    char buffer[16];
    const std::size_t n = run(back.read(bytes(buffer)));
    EXPECT_EQ(std::string(buffer, n), "one two");
}

TEST_P(FileTest, WorksOnAnotherThreadToo) {
    loop_group helpers({.size = 1});
    helpers.start();
    make_loop({.blocking = &helpers});
    {
        file made = opened("f");
        run(made.write(bytes("there")));
        char buffer[8];
        EXPECT_EQ(run(made.read_at(0, bytes(buffer))), 5U);
        run(made.sync());
        run(made.close());
    }
    end_loop();
    helpers.stop();
    helpers.join();
}

EDDY_ON_EVERY_ENGINE(FileTest);

}  // namespace
}  // namespace eddy::test::file_test
