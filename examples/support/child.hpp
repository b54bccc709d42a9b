// SPDX-License-Identifier: Apache-2.0

// Describes how children have ended, and ends them in time.
#pragma once

#include <eddy/async/as_result.hpp>
#include <eddy/async/task.hpp>
#include <eddy/async/timeout.hpp>
#include <eddy/io/process.hpp>

#include <csignal>
#include <string>

#include <string.h>

namespace example {

/// Describes to people how a process ended.
inline std::string describe(const eddy::exit_status& status) {
    if (!status.known) {
        return "ended in an unknown way";
    }
    if (status.signal != 0) {
        return std::string("killed: ") + ::strsignal(status.signal);
    }
    return "exit code " + std::to_string(status.code);
}

/// Asks the child to end, and kills it if it does not in time. Completes when the child has ended.
inline eddy::task<> end(const eddy::process& child, eddy::duration patience) {
    child.kill(SIGTERM);
    const auto ended = co_await eddy::as_result(eddy::timeout(child.wait(), patience));
    if (!ended) {
        child.kill(SIGKILL);
        co_await child.wait();
    }
}

}  // namespace example
