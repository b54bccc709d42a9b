// says: bulk: the function cannot be called with an index and lvalues of the values this sender
// sends
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/bulk.hpp>
#include <eddy/ex/just.hpp>

#include <execution>

namespace ex = eddy::ex;

int main() {
#ifdef CORRECTED
    auto sender = ex::just(1) | ex::bulk(std::execution::seq, 2, [](int, int&) {});
#else
    auto sender = ex::just(1) | ex::bulk(std::execution::seq, 2, [](int) {});
#endif
}
