// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace demo {

/// One line that is overwritten on a terminal; elsewhere only its last state is printed.
class progress_line {
public:
    void show(const std::string& text);
    void end(const std::string& text);
};

}  // namespace demo
