// says: co_await: this is neither a sender nor an awaitable
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>

namespace ex = eddy::ex;

eddy::task<> parent() {
#ifdef CORRECTED
    co_await ex::just(5);
#else
    co_await 5;
#endif
}
