// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <span>
#include <vector>

#include "load/connections.hpp"

namespace bench {

struct closed_loop_result {
    double requests_per_s = 0;
    double p50_us = 0;
    double p99_us = 0;
};

/// How a client waits for replies. One that spins is never asleep when they come, so that what is
/// left of the time between request and reply is the server's.
enum class client_waits { blocking, spinning };

/// Every connection sends its next batch when the last reply of the former one has arrived: the
/// usual load of two cores, server on one and client on the other. Informative only: a faster
/// server gets smaller batches, so it looks slower than it is.
class closed_loop_load {
public:
    closed_loop_load(int port, load_shape shape, client_waits how = client_waits::blocking);

    closed_loop_result run_for(std::int64_t duration_ns);

private:
    struct connection {
        unique_fd fd;
        std::size_t missing = 0;
        std::int64_t sent_at = 0;
    };

    int wait(std::span<epoll_event> events);
    void send_batch(connection& c);
    bool receive(connection& c);
    void settle();

    load_shape shape_;
    client_waits how_;
    unique_fd epoll_;
    std::vector<connection> connections_;
    std::vector<char> request_;
    std::vector<char> reply_;
    std::vector<double> latencies_us_;
};

}  // namespace bench
