// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/vocabulary.hpp>

#include <gtest/gtest.h>

#include <string>
#include <typeinfo>

namespace eddy {
EDDY_EX_BEGIN
struct depends_on_the_vocabulary {};
EDDY_EX_END
}  // namespace eddy

namespace eddy::ex_testing::vocabulary {

TEST(ExVocabulary, NamesOfSymbolsTellWhichForeignOneTheyWereCompiledWith) {
#if defined(EDDY_EXECUTION_STDEXEC)
    const std::string name = "N4eddy12with_stdexec25depends_on_the_vocabularyE";
#elif defined(EDDY_EXECUTION_STD)
    const std::string name = "N4eddy8with_std25depends_on_the_vocabularyE";
#else
    const std::string name = "N4eddy25depends_on_the_vocabularyE";
#endif
    EXPECT_EQ(typeid(eddy::depends_on_the_vocabulary).name(), name);
}

}  // namespace eddy::ex_testing::vocabulary
