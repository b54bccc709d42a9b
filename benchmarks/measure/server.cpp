// SPDX-License-Identifier: Apache-2.0

// Starts an echo server.
#include "measure/server.hpp"

#include <cstdio>
#include <stdexcept>

namespace bench {

namespace {

constexpr std::int64_t start_max_ns = 10'000'000'000;

command start_command(const subject& what, int core, const command& extra) {
    if (const std::string why = what.missing(); !why.empty()) throw std::runtime_error(why);
    command c = what.run({"0"});
    c.core = core;
    c.inherited_fd = extra.inherited_fd;
    c.environment.insert(c.environment.end(), extra.environment.begin(), extra.environment.end());
    return c;
}

}  // namespace

server::server(const subject& what, int core, command extra)
    : process_(start_command(what, core, extra)) {
    const std::string line = process_.read_line(start_max_ns);
    if (std::sscanf(line.c_str(), "port %d", &port_) != 1) {
        throw std::runtime_error("did not say its port but '" + line + "'");
    }
}

}  // namespace bench
