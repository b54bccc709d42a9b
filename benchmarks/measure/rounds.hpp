// SPDX-License-Identifier: Apache-2.0

// The values that the rounds of one case and metric have given.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "measure/output.hpp"

namespace bench {

/// Collects a value per subject and round. The reader forms ratios within a round, where the
/// machine's mood is the same for all subjects; the median comes after that.
class rounds {
public:
    rounds(std::vector<std::string> subjects, unsigned count);

    void set(std::size_t subject, unsigned round, double value);
    void fail(std::size_t subject, std::string reason);
    bool failed(std::size_t subject) const { return !missing_[subject].empty(); }

    void print(output& out, const std::string& suite, const std::string& case_name,
               const std::string& metric) const;

private:
    std::vector<std::string> subjects_;
    std::vector<std::vector<double>> values_;
    std::vector<std::string> missing_;
};

}  // namespace bench
