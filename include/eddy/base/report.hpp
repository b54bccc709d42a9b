// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <string_view>

namespace eddy {

/// Receives one line of report text, without an end of line. The text is valid only during the
/// call.
/// Thread: any, also several at a time. The handler must not call set_report_handler().
using report_handler = void (*)(std::string_view line) noexcept;

/// Sends all reports to `handler`, and returns the previous handler. Null selects the default,
/// which writes each line to standard error, prefixed with "eddy: ".
///
/// The default prints a burst of ten lines and then one line per second. It counts the lines that
/// it leaves out, and prints the count after the next line. It prints only to the standard error
/// that the process started with or was redirected to: if descriptor 2 was closed at the start, or
/// is another socket now, it prints nothing.
/// A handler receives every line.
/// Thread: any.
EDDY_API report_handler set_report_handler(report_handler handler) noexcept;

}  // namespace eddy
