// SPDX-License-Identifier: Apache-2.0

// Keeps the values of all subjects until their rounds are over.
#include "measure/rounds.hpp"

#include <cmath>
#include <utility>

namespace bench {

rounds::rounds(std::vector<std::string> subjects, unsigned count)
    : subjects_(std::move(subjects)),
      values_(subjects_.size(), std::vector<double>(count, std::nan(""))),
      missing_(subjects_.size()) {}

void rounds::set(std::size_t subject, unsigned round, double value) {
    values_[subject][round] = value;
}

void rounds::fail(std::size_t subject, std::string reason) {
    missing_[subject] = std::move(reason);
}

void rounds::print(output& out, const std::string& suite, const std::string& case_name,
                   const std::string& metric) const {
    for (std::size_t s = 0; s < subjects_.size(); ++s) {
        const value_name name{suite, case_name, metric, subjects_[s]};
        if (failed(s)) {
            out.missing(name, missing_[s]);
        } else {
            out.rounds(name, values_[s]);
        }
    }
}

}  // namespace bench
