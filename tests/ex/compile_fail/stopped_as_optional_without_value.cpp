// says: stopped_as_optional: the sender must complete with exactly one set of at least one value
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/just.hpp>
#include <eddy/ex/stopped_as_optional.hpp>

namespace ex = eddy::ex;

int main() {
#ifdef CORRECTED
    auto sender = ex::just(1) | ex::stopped_as_optional();
#else
    auto sender = ex::just() | ex::stopped_as_optional();
#endif
}
