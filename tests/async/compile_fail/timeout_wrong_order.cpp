// says: timeout: the arguments must be a sender
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>

#include <chrono>

using namespace std::chrono_literals;

eddy::task<> child();

eddy::task<> parent() {
#ifdef CORRECTED
    co_await eddy::timeout(child(), 1s);
#else
    co_await eddy::timeout(1s, child());
#endif
}
