#pragma once

#include <eddy/async/spawn.hpp>
#include <eddy/async/task.hpp>
#include <eddy/base/unique_fd.hpp>
#include <eddy/io/bytes.hpp>
#include <eddy/io/run.hpp>
#include <eddy/io/stream.hpp>
#include <eddy/loop/loop.hpp>

#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace example {

inline eddy::task<> stop_at_end_of_input(eddy::loop& loop) {
    eddy::stream input(loop, eddy::unique_fd(STDIN_FILENO));
    char ignored[256];
    while (const auto count = co_await input.read_some(eddy::bytes(ignored))) {
        static_cast<void>(count);
    }
    loop.stop();
}

/// Runs what goes on for ever, until it fails; if standard input is a pipe, also until that is
/// closed. So whoever starts it with a pipe can end it in good order, and it ends with them.
template <class Sender>
void run_until_input_ends(eddy::loop& loop, Sender service) {
    struct stat input {};
    if (::fstat(STDIN_FILENO, &input) == 0 && S_ISFIFO(input.st_mode)) {
        eddy::spawn(loop, stop_at_end_of_input(loop));
    }
    loop.run(std::move(service));
}

}  // namespace example
