// says: when_all: a sender cannot be copied: is a std::move() missing?
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/just.hpp>
#include <eddy/ex/sync_wait.hpp>
#include <eddy/ex/when_all.hpp>

#include <memory>

namespace ex = eddy::ex;

int main() {
    auto one = ex::just(std::make_unique<int>(1));
#ifdef CORRECTED
    ex::sync_wait(ex::when_all(ex::just(2), std::move(one)));
#else
    ex::sync_wait(ex::when_all(ex::just(2), one));
#endif
}
