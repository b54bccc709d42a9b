// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace eddy::test {

/// Content of which no two pieces are alike.
inline std::string pattern(std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i != size; ++i) {
        text[i] = static_cast<char>(i * 7 + (i >> 8) * 13 + (i >> 16));
    }
    return text;
}

}  // namespace eddy::test
