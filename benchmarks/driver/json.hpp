// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "driver/results.hpp"

namespace bench {

/// One line for each value; where there were several rounds, the quartiles follow as metrics of
/// their own. A subject that could not run has null values. Throws std::runtime_error.
void write_json(const results& all, const std::string& file);

/// What write_json() wrote. Throws std::runtime_error: no such file, or it holds something else.
results read_json(const std::string& file);

}  // namespace bench
