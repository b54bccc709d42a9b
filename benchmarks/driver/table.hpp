// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "driver/results.hpp"

namespace bench {

/// One group of columns: the value, and if `ratios`, its ratio to the first subject with half the
/// distance between the quartiles.
struct table_column {
    std::string title;
    std::string case_name;
    std::string metric;
    std::string unit;
    bool ratios = true;
};

/// Prints one aligned table, a row for each subject; below it why some have no value. Columns that
/// were not measured are left out.
void print_table(const results& all, const std::string& suite, const std::string& title,
                 const std::vector<std::string>& subjects, std::vector<table_column> columns);

/// A number with as many digits as it deserves.
std::string format_value(double value);

}  // namespace bench
