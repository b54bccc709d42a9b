// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace bench {

struct options {
    std::vector<std::string> suites;    // in the order in which they run
    std::vector<std::string> subjects;  // empty: all; the reference and its A/A row always run
    std::vector<std::string> cases;     // empty: all
    bool quick = false;
    std::string json;  // empty: none
    bool check = false;
    std::string before;  // another build, whose rows stand beside this one's; empty: none
    std::string from;    // results to check instead of measuring; empty: none
    bool help = false;

    bool wants_subject(const std::string& name) const;
    bool wants_case(const std::string& name) const;
};

/// Throws std::invalid_argument with a sentence for the user.
options parse_options(int argc, char** argv);

std::string usage();

}  // namespace bench
