// SPDX-License-Identifier: Apache-2.0
#include <eddy/base/spawn_step.hpp>
#include <eddy/engine/descriptor_kind.hpp>
#include <eddy/engine/engine_kind.hpp>
#include <eddy/engine/io_operation.hpp>

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace eddy::test::names_test {
namespace {

/// The names of the values from the first to the last; each has to have one of its own.
template <class Enum>
std::set<std::string> names(Enum first, Enum last) {
    std::set<std::string> result;
    for (int i = static_cast<int>(first); i <= static_cast<int>(last); ++i) {
        const std::string name = to_string(static_cast<Enum>(i));
        EXPECT_FALSE(name.empty()) << i;
        EXPECT_TRUE(result.insert(name).second) << name << " is the name of two";
    }
    return result;
}

TEST(Names, EachEngineHasOne) {
    EXPECT_EQ(names(eddy::engine_kind::automatic, eddy::engine_kind::best),
              (std::set<std::string>{"automatic", "epoll", "io_uring", "poll", "best"}));
}

TEST(Names, EachKindOfDescriptorHasOne) {
    const auto all = names(eddy::descriptor_kind::unknown, eddy::descriptor_kind::other);
    EXPECT_EQ(all.size(), 8U);
    EXPECT_TRUE(all.contains("tcp"));
}

TEST(Names, EachOperationHasOne) {
    const auto all = names(eddy::opcode::none, eddy::opcode::wait);
    EXPECT_EQ(all.size(), 18U);
    EXPECT_TRUE(all.contains("recvmsg"));
    EXPECT_FALSE(all.contains("unknown"));
}

TEST(Names, EachStepOfASpawnHasOne) {
    const auto all = names(eddy::spawn_step::none, eddy::spawn_step::execute);
    EXPECT_EQ(all.size(), 13U);
    EXPECT_FALSE(all.contains("unknown"));
}

TEST(Names, WhatIsNoValueIsUnknown) {
    EXPECT_STREQ(to_string(static_cast<eddy::engine_kind>(99)), "unknown");
    EXPECT_STREQ(to_string(static_cast<eddy::opcode>(99)), "unknown");
}

}  // namespace
}  // namespace eddy::test::names_test
