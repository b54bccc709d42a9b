// SPDX-License-Identifier: Apache-2.0

// Passes TCP connections on to another address:  proxy PORT TARGET [IDLE_SECONDS]
//
// Each direction has one buffer and reads again only when that is written, so a slow reader slows
// down the writer. A connection on which nothing moves ends after IDLE_SECONDS (60), for example
// because a peer no longer reads.
#include "support/arguments.hpp"
#include "support/run.hpp"
#include "support/server.hpp"

#include <eddy/async/serve_each.hpp>
#include <eddy/async/timeout.hpp>
#include <eddy/async/when_any.hpp>
#include <eddy/ex/when_all.hpp>
#include <eddy/io/loop_scheduler.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <span>
#include <system_error>
#include <utility>

namespace {

using namespace std::chrono_literals;

struct options {
    unsigned short port = 0;
    eddy::address target;
    unsigned idle_seconds = 60;
};

options read_arguments(int argc, char** argv) {
    options o;
    if (argc < 3 || argc > 4 || !example::read_number(argv[1], o.port) ||
        eddy::address::parse(argv[2], o.target) || o.target.is_unix() ||
        (argc == 4 && !example::read_number(argv[3], o.idle_seconds))) {
        example::exit_with_usage(argv, "PORT TARGET [IDLE_SECONDS]   (TARGET: 127.0.0.1:80)");
    }
    return o;
}

/// Copies until the stream ends, and passes the end on: the other direction may have more to say.
eddy::task<> pump(const eddy::tcp::socket& from, const eddy::tcp::socket& to,
                  eddy::time_point& moved) {
    std::array<std::byte, 65536> buffer;
    while (const std::size_t count = co_await from.read_some(buffer)) {
        moved = eddy::clock::now();
        for (auto rest = std::span(buffer).first(count); !rest.empty();) {
            rest = rest.subspan(co_await to.write_some(rest));
            moved = eddy::clock::now();
        }
    }
    co_await to.shutdown(eddy::shutdown_side::send);
}

/// Ends when nothing has moved for `limit`. The one timer is set again only when it fires.
eddy::task<> until_idle(eddy::loop& loop, const eddy::time_point& moved, eddy::duration limit) {
    while (eddy::clock::now() < moved + limit) {
        co_await loop.get_scheduler().schedule_at(moved + limit);
    }
}

eddy::task<> relay(eddy::loop& loop, eddy::tcp::socket client, const options& o) try {
    const auto server = co_await eddy::timeout(eddy::tcp::connect(loop, o.target), 5s);
    eddy::time_point moved = eddy::clock::now();
    co_await eddy::when_any(
        eddy::ex::when_all(pump(client, server, moved), pump(server, client, moved)),
        until_idle(loop, moved, std::chrono::seconds(o.idle_seconds)));
} catch (const std::system_error& e) {
    std::fprintf(stderr, "a connection to %s: %s\n", o.target.to_string().c_str(), e.what());
}

}  // namespace

int main(int argc, char** argv) try {
    const options o = read_arguments(argc, argv);
    eddy::loop loop;
    const auto session = [&](eddy::tcp::socket client) {
        return relay(loop, std::move(client), o);
    };
    example::run_until_input_ends(loop, eddy::serve_each(example::listen(loop, o.port), session));
} catch (const std::exception& e) {
    std::fprintf(stderr, "proxy: %s\n", e.what());
    return 1;
}
