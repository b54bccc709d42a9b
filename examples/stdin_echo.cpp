// SPDX-License-Identifier: Apache-2.0

// Copies standard input to standard output, whatever they are: terminals, pipes, files, sockets.
//     stdin_echo <FILE | less
#include "support/arguments.hpp"

#include <eddy/async/task.hpp>
#include <eddy/base/unique_fd.hpp>
#include <eddy/io/run.hpp>
#include <eddy/io/stream.hpp>
#include <eddy/loop/loop.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <span>

#include <unistd.h>

namespace {

/// eddy does not change the blocking mode of the standard descriptors, because other programs, such
/// as the shell, use them too.
eddy::task<> copy(const eddy::stream& from, const eddy::stream& to) {
    std::array<std::byte, 65536> buffer;
    while (const std::size_t count = co_await from.read_some(buffer)) {
        co_await to.write(std::span(buffer).first(count));
    }
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 1) {
        example::exit_with_usage(argv, "<INPUT >OUTPUT");
    }
    eddy::loop loop;
    const eddy::stream input(loop, eddy::unique_fd(STDIN_FILENO));
    const eddy::stream output(loop, eddy::unique_fd(STDOUT_FILENO));
    loop.run(copy(input, output));
} catch (const std::exception& e) {
    std::fprintf(stderr, "stdin_echo: %s\n", e.what());
    return 1;
}
