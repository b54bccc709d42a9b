// says: with_nursery: the argument must be a function
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>

eddy::task<> child();

eddy::task<> parent() {
#ifdef CORRECTED
    co_await eddy::with_nursery([](eddy::nursery&) { return child(); });
#else
    co_await eddy::with_nursery(child());
#endif
}
