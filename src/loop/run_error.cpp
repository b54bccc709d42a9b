// SPDX-License-Identifier: Apache-2.0

// Throws the error of a run, even if there is no memory for an exception.
#include "loop/run_error.hpp"

#include "base/report.hpp"

#include <cstdio>
#include <new>
#include <string>

namespace eddy {

namespace {

/// Returns an exception to copy: making one takes memory, copying it does not.
const std::system_error& no_memory() {
    static const std::system_error made(std::make_error_code(std::errc::not_enough_memory));
    return made;
}

/// Holds its text itself, where the base class would allocate it.
class error_without_memory final : public std::system_error {
public:
    error_without_memory(const char* text, std::error_code error) noexcept
        : std::system_error(no_memory()) {
        std::snprintf(text_, sizeof text_, "%s: %s", text, words_of(error));
    }
    const char* what() const noexcept override { return text_; }

private:
    char text_[320];
};

}  // namespace

void prepare_run_errors() { static_cast<void>(no_memory()); }

void raise_run_error(std::error_code error, const char* name, const char* what, const char* call) {
    char text[256];
    std::snprintf(text, sizeof text, "the loop '%s' %s%s%s", name, what,
                  call != nullptr ? ": " : "", call != nullptr ? call : "");
    try {
        throw std::system_error(error, text);
    } catch (const std::bad_alloc&) {
        throw error_without_memory(text, error);
    }
}

}  // namespace eddy
