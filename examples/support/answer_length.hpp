// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/arguments.hpp"

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>

#include <string.h>

namespace example {

/// Returns the Content-Length of an HTTP answer's head. Throws unless status and length are good.
inline std::size_t answer_length(const std::string& head) {
    if (!head.starts_with("HTTP/1.") || head.substr(8, 5) != " 200 ") {
        throw std::runtime_error("the server answers " + head.substr(0, head.find('\r')));
    }
    constexpr std::string_view field = "\r\nContent-Length:";
    const char* text = ::strcasestr(head.c_str(), field.data());
    text = text != nullptr ? text + field.size() : "";
    text += std::strspn(text, " ");
    std::size_t length = 0;
    if (!read_number(std::string(text, std::strcspn(text, " \r")).c_str(), length)) {
        throw std::runtime_error("the server does not say how long the file is");
    }
    return length;
}

}  // namespace example
