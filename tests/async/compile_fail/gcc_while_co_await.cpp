// says: this coroutine awaits in a condition without naming the result
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>

eddy::task<int> next();

eddy::task<> parent() {
#ifdef CORRECTED
    while (const auto got = co_await next()) {
        static_cast<void>(got);
    }
#else
    while (co_await next() != 0) {}
#endif
}
