// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

namespace example {

/// True if the first argument is --help or -h.
inline bool asks_for_help(char** argv) noexcept {
    const std::string_view first = argv[0] != nullptr && argv[1] != nullptr ? argv[1] : "";
    return first == "--help" || first == "-h";
}

/// Prints the usage, with `form` after the program's name. Exits with 2, or with 0 after --help.
[[noreturn]] inline void exit_with_usage(char** argv, const char* form) {
    const bool asked = asks_for_help(argv);
    std::fprintf(asked ? stdout : stderr, "usage: %s %s\n", argv[0], form);
    std::exit(asked ? 0 : 2);
}

/// Returns false, and leaves `out` unchanged, unless all of `text` is a number that fits.
template <class Number>
bool read_number(const char* text, Number& out) noexcept {
    const char* const end = text + std::strlen(text);
    Number read{};
    const auto [rest, error] = std::from_chars(text, end, read);
    if (error != std::errc() || rest != end || text == end) {
        return false;
    }
    out = read;
    return true;
}

/// Returns the only argument of a server, its port. Prints the usage and exits if it is wrong.
inline unsigned short port_argument(int argc, char** argv) {
    unsigned short port = 0;
    if (argc != 2 || !read_number(argv[1], port)) {
        exit_with_usage(argv, "PORT   (1 to 65535, or 0 for any)");
    }
    return port;
}

}  // namespace example
