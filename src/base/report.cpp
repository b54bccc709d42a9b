// SPDX-License-Identifier: Apache-2.0

// Sends reports to the handler, or to standard error at a limited rate.
#include "base/report.hpp"

#include "base/report_limit.hpp"

#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace eddy {

namespace {

constinit std::atomic<report_handler> the_handler{nullptr};
constinit report_limit the_limit;

constexpr std::size_t line_max = 500;

/// The part of `buffer` that a printf function has filled, given that function's return value.
std::string_view filled(const char (&buffer)[line_max + 1], int wanted) noexcept {
    if (wanted < 0) {
        return {};
    }
    const auto length = static_cast<std::size_t>(wanted);
    return {buffer, length < line_max ? length : line_max};
}

/// Prints one line per report, even if an error message inside it has several lines.
void print(std::string_view line) noexcept {
    char buffer[line_max + 1];
    const int shown = static_cast<int>(line.size() < line_max ? line.size() : line_max);
    const int wanted = std::snprintf(buffer, sizeof buffer, "eddy: %.*s", shown, line.data());
    const std::string_view text = filled(buffer, wanted);
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (buffer[i] == '\n' || buffer[i] == '\r') {
            buffer[i] = ' ';
        }
    }
    buffer[text.size()] = '\n';  // replaces the final null
    detail::write_to_standard_error({buffer, text.size() + 1});
}

void print_limited(std::string_view line) noexcept {
    if (!the_limit.admit(clock::now())) {
        return;
    }
    print(line);
    if (const unsigned long left_out = the_limit.take_left_out(); left_out != 0) {
        char buffer[line_max + 1];
        print(filled(buffer, std::snprintf(buffer, sizeof buffer,
                                           "%lu reports before this one were left out", left_out)));
    }
}

/// Gives the line to the handler. False if there is none.
bool handled(std::string_view line) noexcept {
    // acquire: pairs with set_report_handler(), so that the handler sees all that was set up for
    // it.
    const report_handler handler = the_handler.load(std::memory_order_acquire);
    if (handler == nullptr) {
        return false;
    }
    handler(line);
    return true;
}

}  // namespace

report_handler set_report_handler(report_handler handler) noexcept {
    // acq_rel: pairs with handled(), and with set_report_handler() in another thread.
    return the_handler.exchange(handler, std::memory_order_acq_rel);
}

void report(std::string_view line) noexcept {
    if (!handled(line)) {
        print_limited(line);
    }
}

void reportf(const char* format, ...) noexcept {
    char buffer[line_max + 1];
    va_list arguments;
    va_start(arguments, format);
    const int wanted = std::vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    report(filled(buffer, wanted));
}

const char* words_of(std::error_code error) noexcept {
    const char* const words = ::strerrordesc_np(error.value());
    return words != nullptr ? words : "unknown error";
}

void detail::report_lastf(const char* format, ...) noexcept {
    char buffer[line_max + 1];
    va_list arguments;
    va_start(arguments, format);
    const std::string_view line =
        filled(buffer, std::vsnprintf(buffer, sizeof buffer, format, arguments));
    va_end(arguments);
    if (!handled(line)) {
        print(line);
    }
}

}  // namespace eddy
