// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/event.hpp>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

namespace example {

/// Writes lines to standard output and standard error, without delay. SIGPIPE must be ignored.
class log {
public:
    void print(const std::string& line) { write(stdout, line); }
    void say(const std::string& line) { write(stderr, line); }

    /// A sender that completes when a line could not be written; error() then says why.
    auto lost() noexcept { return lost_.wait(); }
    std::error_code error() const noexcept { return error_; }

private:
    void write(std::FILE* to, const std::string& line) {
        const bool written = std::fprintf(to, "%s\n", line.c_str()) >= 0 && std::fflush(to) == 0;
        if (!written && !error_) {
            error_ = std::error_code(errno, std::generic_category());
            lost_.set();
        }
    }

    eddy::event lost_;
    std::error_code error_;
};

}  // namespace example
