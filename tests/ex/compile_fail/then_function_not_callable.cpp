// says: then: the function cannot be called with the values this sender sends
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/just.hpp>
#include <eddy/ex/then.hpp>

namespace ex = eddy::ex;

int main() {
#ifdef CORRECTED
    auto sender = ex::just(1) | ex::then([](int) {});
#else
    auto sender = ex::just(1) | ex::then([](int, int) {});
#endif
}
