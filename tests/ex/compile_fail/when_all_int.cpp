// says: when_all: an argument is not a sender
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/just.hpp>
#include <eddy/ex/sync_wait.hpp>
#include <eddy/ex/when_all.hpp>

namespace ex = eddy::ex;

int main() {
#ifdef CORRECTED
    ex::sync_wait(ex::when_all(ex::just(1), ex::just(2)));
#else
    ex::sync_wait(ex::when_all(ex::just(1), 2));
#endif
}
