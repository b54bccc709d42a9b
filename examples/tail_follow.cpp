// SPDX-License-Identifier: Apache-2.0

// Shows the last ten lines of a file, and then what is added to it:  tail_follow FILE
//
// The file is checked five times a second. A file that became shorter is shown from its beginning.
// A file that was cut, and has grown past its old end since, looks like one that only grew.
#include "support/arguments.hpp"
#include "support/run.hpp"

#include <eddy/io/file.hpp>
#include <eddy/io/loop_scheduler.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <system_error>

#include <fcntl.h>

namespace {

using namespace std::chrono_literals;
using position = std::int64_t;

position size_of(const eddy::file& file) {
    std::uint64_t size = 0;
    if (auto error = file.size(size)) {
        throw std::system_error(error, "its size");
    }
    return static_cast<position>(size);
}

/// Returns where the last `lines` lines begin. Reads backwards, and ignores a final line end.
eddy::task<position> last_lines(const eddy::file& file, int lines) {
    std::array<std::byte, 4096> block;
    const position end = size_of(file);
    for (position behind = end; behind > 0;) {
        const position begin = std::max<position>(0, behind - position{block.size()});
        const auto part = std::span(block).first(static_cast<std::size_t>(behind - begin));
        const auto count = static_cast<position>(co_await file.read_at(begin, part));
        for (position at = begin + count; at-- > begin;) {
            const bool ends_a_line = block[static_cast<std::size_t>(at - begin)] == std::byte{'\n'};
            if (ends_a_line && at != end - 1 && --lines == 0) {
                co_return at + 1;
            }
        }
        behind = begin;
    }
    co_return 0;
}

eddy::task<> follow(eddy::loop& loop, const char* path) {
    const eddy::file file = co_await eddy::file::open(loop, path, O_RDONLY);
    const eddy::stream output(loop, eddy::unique_fd(STDOUT_FILENO));
    std::array<std::byte, 16384> buffer;
    for (position at = co_await last_lines(file, 10);;) {
        if (size_of(file) < at) {
            std::fprintf(stderr, "%s: was cut, from the beginning\n", path);
            at = 0;
        }
        while (const auto count = co_await file.read_some_at(at, buffer)) {
            co_await output.write(std::span(buffer).first(count));
            at += static_cast<position>(count);
        }
        co_await loop.get_scheduler().schedule_after(200ms);
    }
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 2 || example::asks_for_help(argv)) {
        example::exit_with_usage(argv, "FILE");
    }
    eddy::loop loop;
    example::run_until_input_ends(loop, follow(loop, argv[1]));
} catch (const std::exception& e) {
    std::fprintf(stderr, "tail_follow: %s: %s\n", argv[1], e.what());
    return 1;
}
