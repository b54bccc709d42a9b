// SPDX-License-Identifier: Apache-2.0
#include <eddy/base/function_ref.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

namespace eddy::test::function_ref_test {
namespace {

using eddy::function_ref;

int call_with_two(function_ref<int(int)> function) { return function(2); }

int twice(int value) { return value * 2; }

struct counter {
    int calls = 0;
    int operator()(int value) {
        ++calls;
        return value;
    }
};

TEST(FunctionRef, CallsALambda) {
    int seen = 0;
    EXPECT_EQ(call_with_two([&](int value) { return seen = value + 1; }), 3);
    EXPECT_EQ(seen, 3);
}

TEST(FunctionRef, CallsAFunction) {
    EXPECT_EQ(call_with_two(twice), 4);
    EXPECT_EQ(call_with_two(&twice), 4);
}

TEST(FunctionRef, CallsTheObjectItselfAndNoCopy) {
    counter object;
    call_with_two(object);
    call_with_two(object);
    EXPECT_EQ(object.calls, 2);
}

TEST(FunctionRef, CallsAConstantObject) {
    const auto object = [](int value) { return -value; };
    EXPECT_EQ(call_with_two(object), -2);
}

TEST(FunctionRef, ACopyCallsTheSame) {
    counter object;
    const function_ref<int(int)> first = object;
    const function_ref<int(int)> second = first;
    second(1);
    EXPECT_EQ(object.calls, 1);
}

TEST(FunctionRef, PassesReferencesAndWhatCannotBeCopied) {
    std::string text = "a";
    const auto append = [](std::string& target, std::unique_ptr<int> value) {
        target += std::to_string(*value);
    };
    const function_ref<void(std::string&, std::unique_ptr<int>)> function = append;
    function(text, std::make_unique<int>(7));
    EXPECT_EQ(text, "a7");
}

TEST(FunctionRef, DropsAResultThatNobodyWants) {
    counter object;
    const function_ref<void(int)> function = object;
    function(1);
    EXPECT_EQ(object.calls, 1);
}

TEST(FunctionRef, IsNotMadeFromWhatCannotBeCalled) {
    EXPECT_FALSE((std::is_constructible_v<function_ref<int(int)>, std::string>));
    EXPECT_FALSE((std::is_constructible_v<function_ref<int(int)>, int (*)(std::string)>));
    EXPECT_TRUE((std::is_constructible_v<function_ref<int(int)>, counter&>));
}

}  // namespace
}  // namespace eddy::test::function_ref_test
