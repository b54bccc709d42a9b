// SPDX-License-Identifier: Apache-2.0
#include "kernel/call.hpp"
#include "support/fds.hpp"
#include "support/in_child.hpp"

#include <eddy/io/detail/connect/bound_path.hpp>
#include <eddy/io/detail/connect/socket_calls.hpp>

#include <cerrno>
#include <filesystem>

#include <gtest/gtest.h>

namespace eddy::test::bound_path_test {
namespace {

using detail::bound_path;

unique_fd unix_socket() {
    unique_fd made;
    EXPECT_FALSE(detail::open_socket(AF_UNIX, SOCK_STREAM, made));
    return made;
}

address at(const std::string& path) {
    address made;
    EXPECT_FALSE(address::unix_path(path, made));
    return made;
}

bool exists(const std::string& path) { return std::filesystem::exists(path); }

class BoundPathTest : public ::testing::Test {
protected:
    scratch_directory directory_;
    const std::string path_ = directory_.path("s");
};

TEST_F(BoundPathTest, IsNotLeftBehindWhenItsFileCannotBeLookedAt) {
    bound_path made;
    kernel::fail(kernel::call::stat, ENOMEM);
    EXPECT_EQ(bound_path::bind(unix_socket().get(), at(path_), false, made),
              std::errc::not_enough_memory);
    kernel::fail_nothing();
    EXPECT_FALSE(exists(path_));
    EXPECT_FALSE(bound_path::bind(unix_socket().get(), at(path_), false, made));
}

TEST_F(BoundPathTest, RemovesTheNameThatItMade) {
    const unique_fd socket = unix_socket();
    {
        bound_path made;
        ASSERT_FALSE(bound_path::bind(socket.get(), at(path_), false, made));
        bound_path moved = std::move(made);
        made = bound_path();
        EXPECT_TRUE(exists(path_));
    }
    EXPECT_FALSE(exists(path_));
}

TEST_F(BoundPathTest, KeepsItIfToldTo) {
    const unique_fd socket = unix_socket();
    {
        bound_path made;
        ASSERT_FALSE(bound_path::bind(socket.get(), at(path_), false, made));
        made.keep();
    }
    EXPECT_TRUE(exists(path_));
}

TEST_F(BoundPathTest, ReplacesASocketOnlyIfAsked) {
    const unique_fd first = unix_socket();
    const unique_fd second = unix_socket();
    bound_path of_first;
    bound_path of_second;
    ASSERT_FALSE(bound_path::bind(first.get(), at(path_), false, of_first));
    EXPECT_EQ(bound_path::bind(second.get(), at(path_), false, of_second),
              std::errc::address_in_use);
    ASSERT_FALSE(bound_path::bind(second.get(), at(path_), true, of_second));
    of_first.remove();
    EXPECT_TRUE(exists(path_)) << "the successor's name was taken away";
    of_second.remove();
    EXPECT_FALSE(exists(path_));
}

TEST_F(BoundPathTest, NeverReplacesAnotherKindOfFile) {
    const unique_fd file = directory_.file("s", "precious");
    const unique_fd socket = unix_socket();
    bound_path made;
    EXPECT_EQ(bound_path::bind(socket.get(), at(path_), true, made), std::errc::address_in_use);
    EXPECT_EQ(content_of(file.get()), "precious");
    EXPECT_TRUE(exists(path_));
}

TEST_F(BoundPathTest, AChildLeavesTheNameOfItsParent) {
    const unique_fd socket = unix_socket();
    bound_path made;
    ASSERT_FALSE(bound_path::bind(socket.get(), at(path_), false, made));
    EXPECT_EQ(in_child([&] {
                  made.remove();
                  return 0;
              }),
              0);
    EXPECT_TRUE(exists(path_));
}

TEST_F(BoundPathTest, AnAbstractNameMakesNoFile) {
    const unique_fd socket = unix_socket();
    address name;
    ASSERT_FALSE(address::unix_abstract(path_, name));
    bound_path made;
    ASSERT_FALSE(bound_path::bind(socket.get(), name, true, made));
    address bound;
    ASSERT_FALSE(detail::local_address_of(socket.get(), bound));
    EXPECT_EQ(bound, name);
    EXPECT_FALSE(exists(path_));
}

}  // namespace
}  // namespace eddy::test::bound_path_test
