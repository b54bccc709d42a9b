// says: let_value: the function must return a sender
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/just.hpp>
#include <eddy/ex/let_value.hpp>

namespace ex = eddy::ex;

int main() {
#ifdef CORRECTED
    auto sender = ex::just(1) | ex::let_value([](int& number) { return ex::just(number); });
#else
    auto sender = ex::just(1) | ex::let_value([](int& number) { return number; });
#endif
}
