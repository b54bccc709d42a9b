// says: timeout: the arguments must be a sender
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>

#include <chrono>

using namespace std::chrono_literals;

eddy::task<> child();

eddy::task<> parent() {
#ifdef CORRECTED
    auto one = child();
    co_await eddy::timeout(std::move(one), 1s);
#else
    auto one = child();
    co_await eddy::timeout(one, 1s);
#endif
}
