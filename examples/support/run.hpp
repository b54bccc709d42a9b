#pragma once

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

inline eddy::task<> end_of_input(eddy::loop& loop) {
    eddy::stream input(loop, eddy::unique_fd(STDIN_FILENO));
    char ignored[256];
    while (co_await input.read_some(eddy::bytes(ignored)) != 0) {}
}

/// Runs what goes on for ever, until it fails; if standard input is a pipe, also until that is
/// closed. So whoever starts it with a pipe can end it in good order, and it ends with them.
template <class Sender>
void run_until_input_ends(eddy::loop& loop, Sender service) {
    struct stat input {};
    if (::fstat(STDIN_FILENO, &input) == 0 && S_ISFIFO(input.st_mode)) {
        loop.run(eddy::when_any(std::move(service), end_of_input(loop)));
    } else {
        loop.run(std::move(service));
    }
}

}  // namespace example
