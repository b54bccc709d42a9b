// says: read_env: the environment has no answer to this query
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/get_allocator.hpp>
#include <eddy/ex/get_scheduler.hpp>
#include <eddy/ex/read_env.hpp>
#include <eddy/ex/sync_wait.hpp>

namespace ex = eddy::ex;

int main() {
#ifdef CORRECTED
    ex::sync_wait(ex::read_env(ex::get_scheduler));
#else
    ex::sync_wait(ex::read_env(ex::get_allocator));
#endif
}
