// says: this sender cannot be copied
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/just.hpp>
#include <eddy/io/run.hpp>

#include <memory>
#include <utility>

namespace ex = eddy::ex;

void run(eddy::loop& loop) {
#ifdef CORRECTED
    auto sender = ex::just(std::unique_ptr<int>());
    loop.run(std::move(sender));
#else
    auto sender = ex::just(std::unique_ptr<int>());
    loop.run(sender);
#endif
}
