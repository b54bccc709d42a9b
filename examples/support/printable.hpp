// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <string_view>

namespace example {

/// Makes text from a peer safe for a terminal or a log: bytes that could begin another line or
/// command the terminal are shown as \x0a. So are backslashes, so that no two texts look alike.
/// Long texts are cut off. Allocates nothing, so that it can report a lack of memory.
class printable {
public:
    explicit printable(std::string_view text) noexcept {
        for (std::size_t i = 0; i != text.size(); ++i) {
            if (text_.size() - size_ < sizeof "\\x00...") {
                std::snprintf(&text_[size_], sizeof "...", "...");
                return;
            }
            add(static_cast<unsigned char>(text[i]));
        }
    }

    const char* c_str() const noexcept { return text_.data(); }

private:
    void add(unsigned char byte) noexcept {
        // Bytes from 128 on belong to UTF-8, but some terminals take them as commands.
        if (byte < ' ' || byte >= 127 || byte == '\\') {
            size_ += static_cast<std::size_t>(
                std::snprintf(&text_[size_], sizeof "\\x00", "\\x%02x", byte));
        } else {
            text_[size_++] = static_cast<char>(byte);
        }
    }

    std::array<char, 1024> text_{};
    std::size_t size_ = 0;
};

}  // namespace example
