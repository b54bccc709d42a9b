// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/as_result.hpp>
#include <eddy/async/task.hpp>
#include <eddy/async/when_any.hpp>
#include <eddy/base/unique_fd.hpp>
#include <eddy/io/bytes.hpp>
#include <eddy/io/run.hpp>
#include <eddy/io/stream.hpp>
#include <eddy/loop/loop.hpp>

#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace example {

/// Reads to the end of standard input. as_result() keeps the read in the frame, so that the end is
/// noticed even without memory.
inline eddy::task<> until_input_ends(eddy::loop& loop) {
    const eddy::stream input(loop, eddy::unique_fd(STDIN_FILENO));
    char ignored[256];
    for (eddy::result<std::size_t> count = 1; count && *count != 0;) {
        count = co_await eddy::as_result(input.read_some(eddy::bytes(ignored)));
    }
}

/// Runs an endless service until it fails or, if standard input is a pipe, until the pipe is
/// closed. So a parent process can end the service in good order, and the service ends with it.
template <class Sender>
void run_until_input_ends(eddy::loop& loop, Sender service) {
    struct stat input{};
    if (::fstat(STDIN_FILENO, &input) == 0 && S_ISFIFO(input.st_mode)) {
        loop.run(eddy::when_any(std::move(service), until_input_ends(loop)));
    } else {
        loop.run(std::move(service));
    }
}

}  // namespace example
