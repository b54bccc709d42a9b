// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/unique_fd.hpp"

namespace bench {

/// What to start, and where.
struct command {
    std::string program;
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> environment;
    int inherited_fd = -1;  // one more fd than the standard ones
    int core = -1;          // -1: any
};

/// A process that the driver started. It ends with its object, with the driver (also when that is
/// killed), and on ^C: no run leaves anything behind.
class child {
public:
    explicit child(const command& what);
    child(child&& other) noexcept;
    child& operator=(child&&) = delete;
    ~child();

    pid_t pid() const noexcept { return pid_; }

    /// The next line that it prints; throws std::runtime_error with the reason if there is none in
    /// time, taken from its stderr where it said one.
    std::string read_line(std::int64_t wait_max_ns);

    /// All that it prints until it ends by itself; throws as read_line(), also if it failed.
    std::string read_all(std::int64_t wait_max_ns);

    /// Why it cannot be talked to any more.
    std::string reason_of_end();

private:
    bool fill(std::int64_t until);
    int reap(std::int64_t until);
    void kill_and_reap() noexcept;

    pid_t pid_ = -1;
    int slot_ = -1;
    int status_ = 0;
    unique_fd out_;
    unique_fd err_;
    std::string read_;
};

/// From here on SIGINT, SIGTERM and SIGHUP kill and reap every living child, then end the driver.
void end_children_on_signals();

}  // namespace bench
