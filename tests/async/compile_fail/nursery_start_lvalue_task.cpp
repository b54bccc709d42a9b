// says: this sender cannot be copied
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>

eddy::task<> child();

eddy::task<> parent() {
#ifdef CORRECTED
    co_await eddy::with_nursery([](eddy::nursery& children) -> eddy::task<> {
        auto one = child();
        children.start(std::move(one));
        co_return;
    });
#else
    co_await eddy::with_nursery([](eddy::nursery& children) -> eddy::task<> {
        auto one = child();
        children.start(one);
        co_return;
    });
#endif
}
