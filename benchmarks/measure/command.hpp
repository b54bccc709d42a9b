// SPDX-License-Identifier: Apache-2.0

// A program to start, and its surroundings.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bench {

struct command {
    std::string program;  // full path
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> environment;  // besides the driver's own
    int inherited_fd = -1;  // one more fd than the standard ones
    int core = -1;          // -1: any
};

}  // namespace bench
