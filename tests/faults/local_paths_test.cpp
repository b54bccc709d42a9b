// SPDX-License-Identifier: Apache-2.0
#include "faults/with_every_fault.hpp"

#include <eddy/async/async.hpp>
#include <eddy/io/io.hpp>

#include <string>
#include <string_view>

#include <unistd.h>

namespace eddy::test::local_paths {

namespace {

constexpr std::string_view hello = "hello";

task<> serve_one(const local::acceptor& acceptor) {
    const local::stream peer = co_await acceptor.accept();
    std::string text(hello.size(), '\0');
    co_await peer.read(bytes(text));
    co_await peer.write(bytes(text));
}

task<bool> greet(eddy::loop& loop, address where) {
    const local::stream server = co_await local::connect(loop, where);
    address peer;
    if (const auto error = server.peer_address(peer)) {
        throw std::system_error(error);
    }
    co_await server.write(bytes(hello));
    std::string answer(hello.size(), '\0');
    co_await server.read(bytes(answer));
    co_return answer == hello&& peer == where;
}

/// A server is bound to a name in the file system, which is gone afterwards.
void serves(eddy::loop& loop, attempt& a) {
    static const scratch_directory scratch;
    const address where = address::from("unix:" + scratch.path("s"));
    a.guard([&] {
        const local::acceptor acceptor(loop, where);
        const auto both = [&]() -> task<bool> {
            co_return co_await ex::when_all(greet(loop, where), serve_one(acceptor));
        };
        a.run(loop, both());
    });
    // A name that could not be removed at the end is in nobody's way any more.
    ::unlink(scratch.path("s").c_str());
}

constexpr loop_scenario tried{.run = &serves, .tcp = false};
EDDY_SCENARIO(LocalPaths, tried);

}  // namespace

}  // namespace eddy::test::local_paths
