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

TEST(ExVocabulary, NamesOfSymbolsTellWhichOneTheyWereCompiledWith) {
#if defined(EDDY_EXECUTION_STDEXEC)
    const std::string name = "with_stdexec";
#elif defined(EDDY_EXECUTION_STD)
    const std::string name = "with_std";
#else
    const std::string name = "with_builtin";
#endif
    const std::string symbol = typeid(eddy::depends_on_the_vocabulary).name();
    EXPECT_NE(symbol.find(name), std::string::npos) << symbol;
}

}  // namespace eddy::ex_testing::vocabulary
