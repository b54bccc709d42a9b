// SPDX-License-Identifier: Apache-2.0

// Suites of programs that measure themselves.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "measure/context.hpp"
#include "measure/subject.hpp"

namespace bench {

/// A question to programs that measure themselves and print "metric value" lines.
struct question {
    std::string case_name;
    std::vector<std::string> arguments;
    std::vector<std::string> quick_arguments;
    std::vector<std::string> metrics;
    std::string curve = "";  // a name that the program prints many values for
};

struct program_suite {
    std::string name;
    std::vector<question> questions;
    unsigned rounds = 9;
    unsigned quick_rounds = 3;
};

/// Runs every subject once a round, each round starting with another one.
void measure_programs(context& c, const program_suite& suite);

/// Only asks these subjects, with the time of the part `part`. Does not end the tables.
void ask_programs(context& c, const program_suite& suite, const std::vector<subject>& subjects,
                  std::string_view part);

/// Precondition: there is one.
program_suite program_suite_named(const std::string& name);

}  // namespace bench
