// SPDX-License-Identifier: Apache-2.0
#include "kernel/call.hpp"

#include <eddy/io/address.hpp>

#include <cerrno>

#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <net/if.h>

namespace eddy::test::address_test {
namespace {

constexpr std::size_t path_max = sizeof(sockaddr_un::sun_path);

std::error_code parse(std::string_view text) {
    address ignored;
    return address::parse(text, ignored);
}

TEST(AddressTest, PrintsWhatItHasRead) {
    for (const char* text :
         {"127.0.0.1:80", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:80", "[::]:0",
          "[fe80::1%7]:443", "[2001:db8::1]:65535", "[::ffff:1.2.3.4]:1", "unix:/run/app.sock",
          "unix:relative/path", "unix:@name", "unix:@with space:and colon", "unix:"}) {
        EXPECT_EQ(address::from(text).to_string(), text);
        EXPECT_EQ(address::from(text), address::from(text)) << text;
    }
}

TEST(AddressTest, SaysWhatItIs) {
    const address v4 = address::from("10.1.2.3:8080");
    EXPECT_EQ(v4.family(), AF_INET);
    EXPECT_EQ(v4.port(), 8080);
    EXPECT_EQ(v4, address::v4(0x0a010203, 8080));
    EXPECT_EQ(v4.native_length(), sizeof(sockaddr_in));
    EXPECT_FALSE(v4.is_unix());
    EXPECT_EQ(v4.path(), "");

    const address v6 = address::from("[::1]:81");
    EXPECT_EQ(v6.family(), AF_INET6);
    EXPECT_EQ(v6.port(), 81);
    EXPECT_EQ(v6, address::loopback_v6(81));

    const address local = address::from("unix:/a/b");
    EXPECT_TRUE(local.is_unix());
    EXPECT_FALSE(local.is_abstract());
    EXPECT_EQ(local.path(), "/a/b");
    EXPECT_EQ(local.port(), 0);
}

TEST(AddressTest, NoneIsFalseAndEqualOnlyToItself) {
    const address none;
    EXPECT_FALSE(none);
    EXPECT_EQ(none.family(), AF_UNSPEC);
    EXPECT_EQ(none.to_string(), "none");
    EXPECT_EQ(none, address());
    EXPECT_FALSE(none == address::any_v4(0));
    EXPECT_TRUE(address::any_v4(0));
}

TEST(AddressTest, PartsTellAddressesApart) {
    const address one = address::from("[fe80::1%1]:80");
    EXPECT_FALSE(one == address::from("[fe80::1%2]:80"));
    EXPECT_FALSE(one == address::from("[fe80::1%1]:81"));
    EXPECT_FALSE(one == address::from("[fe80::2%1]:80"));
    EXPECT_FALSE(address::from("1.2.3.4:1") == address::from("1.2.3.4:2"));
    EXPECT_FALSE(address::from("unix:name") == address::from("unix:@name"));
    EXPECT_FALSE(address::from("unix:") == address::from("unix:a"));
}

TEST(AddressTest, AScopeMayBeTheNameOfAnInterface) {
    const unsigned loopback = ::if_nametoindex("lo");
    ASSERT_NE(loopback, 0U);
    EXPECT_EQ(address::from("[fe80::1%lo]:80"), address::v6(
                                                    [] {
                                                        in6_addr where{};
                                                        where.s6_addr[0] = 0xfe;
                                                        where.s6_addr[1] = 0x80;
                                                        where.s6_addr[15] = 1;
                                                        return where;
                                                    }(),
                                                    80, loopback));
}

TEST(AddressTest, AnInterfaceThatDoesNotExistIsNoSuchDevice) {
    EXPECT_EQ(parse("[fe80::1%no-such-if0]:80"), std::errc::no_such_device);
    EXPECT_EQ(parse("[fe80::1%4294967296]:80"), std::errc::no_such_device);
    EXPECT_EQ(parse("[fe80::1%" + std::string(IF_NAMESIZE, 'x') + "]:80"),
              std::errc::invalid_argument);
}

/// The kernel is asked for the number of an interface by a socket.
TEST(AddressTest, AnInterfaceThatCannotBeLookedUpIsNoMissingOne) {
    kernel::fail(kernel::call::socket, EMFILE);
    EXPECT_EQ(parse("[fe80::1%lo]:80"), std::errc::too_many_files_open);
    kernel::fail_nothing();
    EXPECT_EQ(parse("[fe80::1%lo]:80"), std::error_code());
}

/// Text that is nearly an address must never become another address: inet_aton() takes 127.1 and
/// 0x7f.0.0.1, and a C string ends at a NUL.
TEST(AddressTest, RefusesWhatIsNotAnAddress) {
    using namespace std::string_view_literals;
    for (const std::string_view text :
         {""sv,
          ":"sv,
          ":80"sv,
          "80"sv,
          "localhost:80"sv,
          "127.0.0.1"sv,
          "127.0.0.1:"sv,
          "127.0.0.1:65536"sv,
          "127.0.0.1:-1"sv,
          "127.0.0.1:+1"sv,
          "127.0.0.1: 1"sv,
          "127.0.0.1:80 "sv,
          " 127.0.0.1:80"sv,
          "127.0.0.1:8o"sv,
          "127.0.0.256:80"sv,
          "127.0.0:80"sv,
          "127.1:80"sv,
          "0x7f.0.0.1:80"sv,
          "1.2.3.4.5:80"sv,
          "127.0.0.1\0:80"sv,
          "127.0.0.1:80\0"sv,
          "::1"sv,
          "::1:80"sv,
          "[::1]"sv,
          "[::1]:"sv,
          "[::1]:65536"sv,
          "[::1:80"sv,
          "::1]:80"sv,
          "[]:80"sv,
          "[%1]:80"sv,
          "[::1%]:80"sv,
          "[:::1]:80"sv,
          "[1:2:3:4:5:6:7:8:9]:80"sv,
          "[::g]:80"sv,
          "[::1\0]:80"sv,
          "[127.0.0.1]:80"sv,
          "unix"sv,
          "unix:@"sv,
          "unix:a\0b"sv,
          "UNIX:/a"sv,
          "99999999999999999999999999999999999999999999999999999999999999999999:80"sv}) {
        EXPECT_EQ(parse(text), std::errc::invalid_argument) << '\'' << text << '\'';
    }
}

TEST(AddressTest, AHostThatIsTooLongIsRefusedNotCut) {
    EXPECT_EQ(parse("127.0.0.1" + std::string(1000, '0') + ":80"), std::errc::invalid_argument);
    EXPECT_EQ(parse("[::" + std::string(1000, '1') + "]:80"), std::errc::invalid_argument);
}

TEST(AddressTest, ARefusedTextLeavesTheOldAddress) {
    address kept = address::loopback_v4(7);
    EXPECT_TRUE(address::parse("nonsense", kept));
    EXPECT_TRUE(address::parse("unix:" + std::string(path_max, 'x'), kept));
    EXPECT_EQ(kept, address::loopback_v4(7));
}

TEST(AddressTest, ThrowsWithTheTextInItsMessage) {
    try {
        static_cast<void>(address::from("no such thing"));
        FAIL() << "it has not thrown";
    } catch (const std::system_error& e) {
        EXPECT_EQ(e.code(), std::errc::invalid_argument);
        EXPECT_NE(std::string(e.what()).find("no such thing"), std::string::npos) << e.what();
    }
}

TEST(AddressTest, APathThatFitsIsKeptWhole) {
    const std::string longest(path_max - 1, 'p');
    address made;
    ASSERT_FALSE(address::unix_path(longest, made));
    EXPECT_EQ(made.path(), longest);
    EXPECT_EQ(made.to_string(), "unix:" + longest);
}

TEST(AddressTest, APathThatDoesNotFitIsTooLong) {
    address made;
    EXPECT_EQ(address::unix_path(std::string(path_max, 'p'), made), std::errc::filename_too_long);
    EXPECT_EQ(address::unix_path(std::string(100'000, 'p'), made), std::errc::filename_too_long);
    EXPECT_EQ(address::unix_abstract(std::string(path_max, 'p'), made),
              std::errc::filename_too_long);
    EXPECT_FALSE(made);
}

TEST(AddressTest, AnAbstractNameMayHaveAnyBytes) {
    const std::string name("a\0b\0", 4);
    address made;
    ASSERT_FALSE(address::unix_abstract(name, made));
    EXPECT_TRUE(made.is_abstract());
    EXPECT_EQ(made.path(), name);
    EXPECT_EQ(address::from(made.to_string()), made);

    ASSERT_FALSE(address::unix_abstract(std::string(path_max - 1, 'n'), made));
    EXPECT_EQ(made.path(), std::string(path_max - 1, 'n'));
}

TEST(AddressTest, APathThatLooksAbstractIsStillReadBackAsAPath) {
    address made;
    ASSERT_FALSE(address::unix_path("@file", made));
    const address back = address::from(made.to_string());
    EXPECT_FALSE(back.is_abstract());
    EXPECT_EQ(back.path(), "./@file");
}

TEST(AddressTest, TakesWhatTheKernelGave) {
    for (const char* text : {"127.0.0.1:80", "[fe80::1%7]:80", "unix:/a", "unix:@a", "unix:"}) {
        const address given = address::from(text);
        EXPECT_EQ(address::from_native(given.native(), given.native_length()), given) << text;
    }
}

TEST(AddressTest, APathThatFillsTheStructureIsKeptWhole) {
    // bind() takes a path without a NUL, and getsockname() then says one byte more than there is.
    struct {
        sockaddr_un native{};
        char nul = '\0';
    } given;
    given.native.sun_family = AF_UNIX;
    std::fill(std::begin(given.native.sun_path), std::end(given.native.sun_path), 'f');
    const address made =
        address::from_native(reinterpret_cast<const sockaddr*>(&given), sizeof(sockaddr_un) + 1);
    EXPECT_EQ(made.path(), std::string(path_max, 'f'));
}

TEST(AddressTest, RefusesWhatNoKernelGives) {
    const address v4 = address::loopback_v4(1);
    EXPECT_FALSE(address::from_native(nullptr, 16));
    EXPECT_FALSE(address::from_native(v4.native(), 0));
    EXPECT_FALSE(address::from_native(v4.native(), 1));
    EXPECT_FALSE(address::from_native(v4.native(), v4.native_length() - 1));
    EXPECT_FALSE(address::from_native(v4.native(), v4.native_length() + 1));
    sockaddr_storage strange{};
    strange.ss_family = AF_APPLETALK;
    EXPECT_FALSE(address::from_native(reinterpret_cast<sockaddr*>(&strange), sizeof strange));
}

}  // namespace
}  // namespace eddy::test::address_test
