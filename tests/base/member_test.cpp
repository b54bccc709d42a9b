// SPDX-License-Identifier: Apache-2.0
#include <eddy/base/detail/member.hpp>

#include <string>

#include <gtest/gtest.h>

namespace eddy::test::member_test {
namespace {

using eddy::detail::owner_of;

struct plain {
    int first = 0;
    std::string middle;
    int last = 0;
};

struct base {
    virtual ~base() = default;
    long in_base = 1;
};

struct derived : base {
    alignas(64) char aligned = 0;
    int part = 0;
};

TEST(OwnerOf, FindsTheObjectOfEachMember) {
    plain object;
    EXPECT_EQ(&owner_of<&plain::first>(object.first), &object);
    EXPECT_EQ(&owner_of<&plain::middle>(object.middle), &object);
    EXPECT_EQ(&owner_of<&plain::last>(object.last), &object);
}

TEST(OwnerOf, FindsAnObjectWithABaseAndAnAlignment) {
    derived object;
    EXPECT_EQ(&owner_of<&derived::part>(object.part), &object);
    EXPECT_EQ(&owner_of<&derived::aligned>(object.aligned), &object);
}

TEST(OwnerOf, TellsTheElementsOfAnArrayApart) {
    plain objects[3];
    for (plain& object : objects) {
        EXPECT_EQ(&owner_of<&plain::last>(object.last), &object);
    }
}

}  // namespace
}  // namespace eddy::test::member_test
