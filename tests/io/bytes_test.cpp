// SPDX-License-Identifier: Apache-2.0
#include <eddy/io/bytes.hpp>

#include <array>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

namespace eddy::io_test {
namespace {

TEST(BytesTest, ALiteralHasNoNul) {
    EXPECT_EQ(bytes("hello").size(), 5U);
    EXPECT_EQ(as_text(bytes("hello")), "hello");
    EXPECT_EQ(bytes("").size(), 0U);
}

TEST(BytesTest, WhatCanBeWrittenGivesABufferOfItsWholeSize) {
    char array[7] = {};
    std::array<std::byte, 3> standard{};
    std::string text = "abc";
    std::vector<std::uint32_t> numbers(2);
    static_assert(std::is_same_v<decltype(bytes(array)), std::span<std::byte>>);
    EXPECT_EQ(bytes(array).size(), 7U);
    EXPECT_EQ(bytes(standard).data(), standard.data());
    EXPECT_EQ(bytes(text).size(), 3U);
    EXPECT_EQ(bytes(numbers).size(), 8U);
    EXPECT_EQ(bytes(std::span(array).first(2)).size(), 2U);
}

TEST(BytesTest, WhatIsConstCanOnlyBeRead) {
    const std::string text = "abc";
    const std::vector<char> data(5);
    static_assert(std::is_same_v<decltype(bytes(text)), std::span<const std::byte>>);
    EXPECT_EQ(as_text(bytes(text)), "abc");
    EXPECT_EQ(as_text(bytes(std::string_view("view"))), "view");
    EXPECT_EQ(bytes(data).size(), 5U);
}

TEST(BytesTest, RefusesTemporariesThatOwnAndWhatIsNotPlain) {
    static_assert(!detail::byte_range<std::string>);
    static_assert(!detail::byte_range<std::vector<char>>);
    static_assert(!detail::byte_range<std::vector<std::string>&>);
    static_assert(!detail::byte_range<int>);
    static_assert(detail::byte_range<std::string_view>);
}

}  // namespace
}  // namespace eddy::io_test
