// SPDX-License-Identifier: Apache-2.0

// An echo server.
#pragma once

#include "measure/child.hpp"
#include "measure/subject.hpp"

namespace bench {

/// An echo server that is up. Throws std::runtime_error with the reason if it does not come up.
class server {
public:
    server(const subject& what, int core, command extra = {});

    int port() const noexcept { return port_; }
    pid_t pid() const noexcept { return process_.pid(); }
    std::string reason_of_end() { return process_.reason_of_end(); }

private:
    child process_;
    int port_ = 0;
};

}  // namespace bench
