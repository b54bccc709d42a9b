// says: when_all: a sender cannot be copied: is a std::move() missing?
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>
#include <eddy/ex/when_all.hpp>

namespace ex = eddy::ex;

eddy::task<> child();

eddy::task<> parent() {
    auto one = child();
#ifdef CORRECTED
    co_await ex::when_all(std::move(one), child());
#else
    co_await ex::when_all(one, child());
#endif
}
