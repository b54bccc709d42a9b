// says: let_value: the function cannot be called with lvalues of the values this sender sends
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/just.hpp>
#include <eddy/ex/let_value.hpp>

namespace ex = eddy::ex;

int main() {
#ifdef CORRECTED
    auto sender = ex::just(1) | ex::let_value([](int&) { return ex::just(); });
#else
    auto sender = ex::just(1) | ex::let_value([](int&&) { return ex::just(); });
#endif
}
