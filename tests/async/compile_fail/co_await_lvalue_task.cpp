// says: this sender cannot be copied
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>

eddy::task<> child();

eddy::task<> parent() {
#ifdef CORRECTED
    auto one = child();
    co_await std::move(one);
#else
    auto one = child();
    co_await one;
#endif
}
