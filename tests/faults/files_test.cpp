// SPDX-License-Identifier: Apache-2.0
#include "faults/with_every_fault.hpp"

#include <eddy/async/async.hpp>
#include <eddy/io/io.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include <fcntl.h>

namespace eddy::test::files {

namespace {

constexpr std::string_view line = "a line of some length\n";

void check(std::error_code error) {
    if (error) {
        throw std::system_error(error);
    }
}

/// A file is made, written, read and closed.
void writes_and_reads(eddy::loop& loop, attempt& a) {
    static const scratch_directory scratch;
    const auto work = [&]() -> task<bool> {
        file log = co_await file::open(loop, scratch.path("log"), O_RDWR | O_CREAT | O_TRUNC);
        co_await log.write(bytes(line));
        co_await log.write_at(static_cast<std::int64_t>(line.size()), bytes(line));
        co_await log.datasync();
        std::uint64_t size = 0;
        check(log.size(size));
        check(log.truncate(line.size()));
        check(log.seek(0));
        std::string text(2 * line.size(), '\0');
        const std::size_t count = co_await log.read(bytes(text));
        text.resize(count);
        co_await log.close();
        co_return size == 2 * line.size() && text == line;
    };
    a.run(loop, work());
}

constexpr kernel::call told[] = {kernel::call::read, kernel::call::open};
constexpr loop_scenario tried{.run = &writes_and_reads, .tells = told};
EDDY_SCENARIO(Files, tried);

}  // namespace

}  // namespace eddy::test::files
