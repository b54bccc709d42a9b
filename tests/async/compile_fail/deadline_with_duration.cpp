// says: deadline: the arguments must be a sender
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>

#include <chrono>

using namespace std::chrono_literals;

eddy::task<> child();

eddy::task<> parent() {
#ifdef CORRECTED
    co_await eddy::deadline(child(), eddy::clock::now() + 1s);
#else
    co_await eddy::deadline(child(), 1s);
#endif
}
