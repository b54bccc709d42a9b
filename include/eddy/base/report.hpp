// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <string_view>

namespace eddy {

/// Receives one line that eddy has to say, without the line's end. The text is valid only during
/// the call.
/// Thread: any, also several at a time. The handler must not call set_report_handler().
using report_handler = void (*)(std::string_view line) noexcept;

/// Gives everything that eddy would print to `handler`, and returns the handler before it. Null
/// stands for the default: each line goes to standard error, after "eddy: ".
///
/// The default prints a burst of ten lines and then one line per second. A line that it left out is
/// counted, and the next line is followed by the count. It prints only to the standard error that
/// the process started with, or was redirected to: if descriptor 2 was closed at the start, or is
/// another socket now, it prints nothing.
/// A handler receives every line.
/// Thread: any.
EDDY_API report_handler set_report_handler(report_handler handler) noexcept;

}  // namespace eddy
