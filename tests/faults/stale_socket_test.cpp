// SPDX-License-Identifier: Apache-2.0
#include "faults/with_every_fault.hpp"

#include <eddy/io/io.hpp>

#include <unistd.h>

namespace eddy::test::stale_socket {

namespace {

/// A server is bound to a name that another one, which has ended, has left behind.
void is_replaced(eddy::loop& loop, attempt& a) {
    static const scratch_directory scratch;
    const address where = address::from("unix:" + scratch.path("s"));
    const unique_fd ended(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(ended.get(), where.native(), where.native_length()), 0);
    a.guard([&] {
        const local::acceptor acceptor(loop, where, {.replace = true});
        a.succeed();
    });
    ::unlink(scratch.path("s").c_str());
}

constexpr kernel::call told[] = {kernel::call::unlink, kernel::call::stat};
constexpr loop_scenario tried{.run = &is_replaced, .tcp = false, .tells = told};
EDDY_SCENARIO(StaleSocket, tried);

}  // namespace

}  // namespace eddy::test::stale_socket
