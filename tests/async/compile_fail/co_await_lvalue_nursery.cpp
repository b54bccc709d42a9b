// says: this sender cannot be copied
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>

eddy::task<> child();

eddy::task<> parent() {
#ifdef CORRECTED
    auto whole = eddy::with_nursery([](eddy::nursery&) { return child(); });
    co_await std::move(whole);
#else
    auto whole = eddy::with_nursery([](eddy::nursery&) { return child(); });
    co_await whole;
#endif
}
