// says: bulk_chunked: the function cannot be called with two indices and lvalues of the values this
// sender sends
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/bulk_chunked.hpp>
#include <eddy/ex/just.hpp>

#include <execution>

namespace ex = eddy::ex;

int main() {
#ifdef CORRECTED
    auto sender = ex::just(1) | ex::bulk_chunked(std::execution::seq, 2, [](int, int, int&) {});
#else
    auto sender = ex::just(1) | ex::bulk_chunked(std::execution::seq, 2, [](int, int&) {});
#endif
}
