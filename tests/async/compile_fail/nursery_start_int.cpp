// says: this is not a sender
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>

namespace ex = eddy::ex;

eddy::task<> parent() {
#ifdef CORRECTED
    co_await eddy::with_nursery([](eddy::nursery& children) -> eddy::task<> {
        children.start(ex::just(5));
        co_return;
    });
#else
    co_await eddy::with_nursery([](eddy::nursery& children) -> eddy::task<> {
        children.start(5);
        co_return;
    });
#endif
}
