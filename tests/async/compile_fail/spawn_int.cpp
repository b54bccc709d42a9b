// says: this is not a sender
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>

namespace ex = eddy::ex;

eddy::task<> parent() {
#ifdef CORRECTED
    eddy::spawn(*eddy::loop::current(), ex::just(5));
    co_return;
#else
    eddy::spawn(*eddy::loop::current(), 5);
    co_return;
#endif
}
