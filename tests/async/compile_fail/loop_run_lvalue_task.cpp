// says: this sender cannot be copied
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>

eddy::task<> child();

eddy::task<> parent() {
#ifdef CORRECTED
    auto one = child();
    eddy::loop().run(std::move(one));
    co_return;
#else
    auto one = child();
    eddy::loop().run(one);
    co_return;
#endif
}
