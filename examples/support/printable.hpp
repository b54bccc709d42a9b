// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <string_view>

namespace example {

/// Text that a peer has chosen, for a line on a terminal or in a log: bytes that could begin
/// another line or command the terminal are shown as \x0a. So is a backslash, so that no text looks
/// like another. A long text is cut off. Takes no memory, so that it can tell that there is none.
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
        // From 128 on: in UTF-8, but also the commands of some terminals.
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
