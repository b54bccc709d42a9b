// says: this is not a sender
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>

namespace ex = eddy::ex;

eddy::task<> child();

eddy::task<> parent() {
#ifdef CORRECTED
    co_await eddy::finally(child(), ex::just());
#else
    co_await eddy::finally(5, ex::just());
#endif
}
