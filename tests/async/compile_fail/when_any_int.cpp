// says: this is not a sender
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>

namespace ex = eddy::ex;

eddy::task<> parent() {
#ifdef CORRECTED
    co_await eddy::when_any(ex::just(5));
#else
    co_await eddy::when_any(5);
#endif
}
