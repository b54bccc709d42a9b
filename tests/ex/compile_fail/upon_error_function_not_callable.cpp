// says: upon_error: the function cannot be called with an error this sender sends
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/just.hpp>
#include <eddy/ex/upon_error.hpp>

namespace ex = eddy::ex;

int main() {
#ifdef CORRECTED
    auto sender = ex::just_error(1) | ex::upon_error([](int) {});
#else
    auto sender = ex::just_error(1) | ex::upon_error([] {});
#endif
}
