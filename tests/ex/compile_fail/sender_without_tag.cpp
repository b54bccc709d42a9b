// says: this is not a sender
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/just.hpp>
#include <eddy/ex/sync_wait.hpp>

namespace ex = eddy::ex;

int main() {
#ifdef CORRECTED
    ex::sync_wait(ex::just(1));
#else
    ex::sync_wait(1);
#endif
}
