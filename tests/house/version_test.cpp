// SPDX-License-Identifier: Apache-2.0
#include <eddy/base/version.hpp>

#include <gtest/gtest.h>

#include <string>

namespace eddy::test::version_test {
namespace {

TEST(Version, TheLibraryAndItsHeadersAgree) { EXPECT_EQ(eddy::version(), EDDY_VERSION); }

TEST(Version, TheNumbersMakeTheString) {
    const std::string numbers = std::to_string(EDDY_VERSION_MAJOR) + "." +
                                std::to_string(EDDY_VERSION_MINOR) + "." +
                                std::to_string(EDDY_VERSION_PATCH);
    EXPECT_EQ(eddy::version(), numbers);
}

}  // namespace
}  // namespace eddy::test::version_test
