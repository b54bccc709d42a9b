// says: this is not a sender
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/just.hpp>
#include <eddy/io/run.hpp>

namespace ex = eddy::ex;

void run(eddy::loop& loop) {
#ifdef CORRECTED
    loop.run(ex::just(5));
#else
    loop.run(5);
#endif
}
