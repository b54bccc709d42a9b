// SPDX-License-Identifier: Apache-2.0

// The processes that the driver starts.
#pragma once

#include <eddy/io/process.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/os/exit_status.hpp>

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include "measure/command.hpp"

namespace bench {

/// A process with pipes to its output, and a loop of its own, which runs only while the driver
/// waits for the process. The process ends with its object.
///
/// Thread: one at a time.
class child {
public:
    /// Throws std::system_error if the program cannot be started.
    explicit child(const command& what);
    child(const child&) = delete;
    child& operator=(const child&) = delete;
    ~child();

    pid_t pid() const noexcept { return process_.pid(); }

    /// Returns the next line of its output. Throws std::runtime_error with the reason if no line
    /// comes in time: the last line of its standard error, if there is one.
    std::string read_line(std::int64_t wait_max_ns);

    /// Returns all output until the process ends by itself. Throws as read_line() does, and if the
    /// process fails.
    std::string read_all(std::int64_t wait_max_ns);

    /// Says why the process does not answer any more.
    std::string reason_of_end();

private:
    bool ends_by(eddy::time_point limit);
    void kill() noexcept;

    eddy::loop loop_;
    eddy::process process_;
    std::optional<eddy::exit_status> end_;  // empty: it still runs
    std::string read_;
};

}  // namespace bench
