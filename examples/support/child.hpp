// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/as_result.hpp>
#include <eddy/async/task.hpp>
#include <eddy/async/timeout.hpp>
#include <eddy/io/process.hpp>

#include <csignal>
#include <string>

#include <string.h>

/// What the examples that have children share.
namespace example {

/// How a process ended, for people.
inline std::string describe(const eddy::exit_status& status) {
    if (!status.known) {
        return "ended in an unknown way";
    }
    if (status.signal != 0) {
        return std::string("killed: ") + ::strsignal(status.signal);
    }
    return "exit code " + std::to_string(status.code);
}

/// Asks it to end, and kills it if it has not done so in time. It is over when the process is.
inline eddy::task<> end(const eddy::process& child, eddy::duration patience) {
    child.kill(SIGTERM);
    const auto ended = co_await eddy::as_result(eddy::timeout(child.wait(), patience));
    if (!ended) {
        child.kill(SIGKILL);
        co_await child.wait();
    }
}

}  // namespace example
