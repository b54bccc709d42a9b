// says: at most one set of values: await ex::into_variant(...) of a when_any of different values
// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/async.hpp>
#include <eddy/ex/into_variant.hpp>

#include <string>

namespace ex = eddy::ex;

eddy::task<> parent() {
#ifdef CORRECTED
    auto first = co_await ex::into_variant(eddy::when_any(ex::just(5), ex::just(std::string())));
#else
    auto first = co_await eddy::when_any(ex::just(5), ex::just(std::string()));
#endif
}
