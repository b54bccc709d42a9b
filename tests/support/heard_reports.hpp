// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/report.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace eddy::test {

/// Writes down what eddy reports while it exists. One at a time.
class heard_reports {
public:
    heard_reports() : before_(set_report_handler(&hear)) {
        const std::lock_guard lock(mutex_);
        lines_.clear();
    }
    ~heard_reports() { set_report_handler(before_); }
    heard_reports(const heard_reports&) = delete;
    heard_reports& operator=(const heard_reports&) = delete;

    std::vector<std::string> lines() const {
        const std::lock_guard lock(mutex_);
        return lines_;
    }
    /// How many lines contain `text`.
    std::size_t with(std::string_view text) const {
        const std::lock_guard lock(mutex_);
        return static_cast<std::size_t>(std::count_if(
            lines_.begin(), lines_.end(),
            [&](const std::string& line) { return line.find(text) != std::string::npos; }));
    }
    /// All lines, for the message of a test that fails.
    std::string all() const {
        std::string text;
        for (const std::string& line : lines()) {
            text += line + "\n";
        }
        return text;
    }

private:
    static void hear(std::string_view line) noexcept {
        const std::lock_guard lock(mutex_);
        lines_.emplace_back(line);
    }

    static inline std::mutex mutex_;
    static inline std::vector<std::string> lines_;
    report_handler before_;
};

}  // namespace eddy::test
