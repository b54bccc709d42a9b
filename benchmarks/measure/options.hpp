// SPDX-License-Identifier: Apache-2.0

// The arguments of the driver.
#pragma once

#include <string>
#include <vector>

namespace bench {

/// `./bench --help` explains these. `benchmarks/report` has checked them, except the names of
/// subjects and cases.
struct options {
    std::vector<std::string> suites;    // in the order in which they run
    std::vector<std::string> subjects;  // empty: all; the reference and its A/A row always run
    std::vector<std::string> cases;     // empty: all
    bool quick = false;
    std::string before;  // another build, whose rows stand beside this one's; empty: none

    bool wants_subject(const std::string& name) const;
    bool wants_case(const std::string& name) const;
};

/// Throws std::invalid_argument.
options parse_options(int argc, char** argv);

}  // namespace bench
