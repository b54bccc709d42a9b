// says: spawn: the sender must complete without values, and cannot fail
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/just.hpp>
#include <eddy/ex/simple_counting_scope.hpp>
#include <eddy/ex/spawn.hpp>
#include <eddy/ex/then.hpp>

namespace ex = eddy::ex;

int main() {
    ex::simple_counting_scope scope;
#ifdef CORRECTED
    ex::spawn(ex::just() | ex::then([]() noexcept {}), scope.get_token());
#else
    ex::spawn(ex::just() | ex::then([] {}), scope.get_token());
#endif
}
