// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/report.hpp>

#include <string_view>
#include <system_error>

namespace eddy {

/// Tells the program's operator something that no caller can be told: gives `line` to the report
/// handler (set_report_handler). Allocates nothing. The line contains no end of line and no "eddy:
/// ".
/// Thread: any.
void report(std::string_view line) noexcept;

/// Formats a line as printf does, cuts it after 500 characters, and reports it.
[[gnu::format(printf, 1, 2)]] void reportf(const char* format, ...) noexcept;

/// A description of an errno value, in storage that lasts.
const char* words_of(std::error_code error) noexcept;

namespace detail {

/// Formats a line as reportf() does, and reports it. The default handler prints this line
/// regardless of its rate limit, because the process ends right after it.
[[gnu::format(printf, 1, 2)]] void report_lastf(const char* format, ...) noexcept;

/// Writes one line to the standard error that the process started with. Defined in the room
/// `kernel`, the only one that makes system calls.
void write_to_standard_error(std::string_view line) noexcept;

}  // namespace detail

}  // namespace eddy
