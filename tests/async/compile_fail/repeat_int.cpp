// says: repeat: the argument must be a function that returns a sender
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>

eddy::task<> child();

eddy::task<> parent() {
#ifdef CORRECTED
    co_await eddy::repeat([] { return child(); });
#else
    co_await eddy::repeat(5);
#endif
}
