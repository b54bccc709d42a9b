// says: read_env: the environment has no answer to this query
// SPDX-License-Identifier: Apache-2.0
#include <eddy/ex/get_allocator.hpp>
#include <eddy/ex/get_scheduler.hpp>
#include <eddy/ex/read_env.hpp>
#include <eddy/io/run.hpp>

namespace ex = eddy::ex;

void run(eddy::loop& loop) {
#ifdef CORRECTED
    loop.run(ex::read_env(ex::get_scheduler));
#else
    loop.run(ex::read_env(ex::get_allocator));
#endif
}
