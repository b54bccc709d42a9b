#pragma once

#include <string>
#include <vector>

namespace bench {

struct options {
    std::vector<std::string> suites;  // in the order in which they run
    bool quick = false;
    std::string json;  // empty: none
    bool help = false;
};

/// Throws std::invalid_argument with a sentence for the user.
options parse_options(int argc, char** argv);

std::string usage();

}  // namespace bench
