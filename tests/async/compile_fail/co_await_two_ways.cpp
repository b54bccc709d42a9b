// says: at most one set of values
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>
#include <eddy/ex/into_variant.hpp>

namespace ex = eddy::ex;

eddy::task<> parent() {
#ifdef CORRECTED
    co_await ex::into_variant(eddy::when_any(ex::just(5), ex::just()));
#else
    co_await eddy::when_any(ex::just(5), ex::just());
#endif
}
