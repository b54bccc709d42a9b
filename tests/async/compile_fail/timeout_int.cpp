// says: timeout: the arguments must be a sender
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>

#include <chrono>

namespace ex = eddy::ex;
using namespace std::chrono_literals;

eddy::task<> parent() {
#ifdef CORRECTED
    co_await eddy::timeout(ex::just(5), 1s);
#else
    co_await eddy::timeout(5, 1s);
#endif
}
