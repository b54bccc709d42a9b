// says: upon_stopped: the function cannot be called without arguments
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/just.hpp>
#include <eddy/ex/upon_stopped.hpp>

namespace ex = eddy::ex;

int main() {
#ifdef CORRECTED
    auto sender = ex::just_stopped() | ex::upon_stopped([] {});
#else
    auto sender = ex::just_stopped() | ex::upon_stopped([](int) {});
#endif
}
