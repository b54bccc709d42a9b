// says: repeat_until: the argument must be a function that returns a sender
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>

namespace ex = eddy::ex;

eddy::task<> parent() {
#ifdef CORRECTED
    co_await eddy::repeat_until([] { return ex::just(true); });
#else
    co_await eddy::repeat_until([] { return true; });
#endif
}
