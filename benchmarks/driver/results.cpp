// SPDX-License-Identifier: Apache-2.0
#include "driver/results.hpp"

#include <cmath>

namespace bench {

const measurement* results::find(const std::string& suite, const std::string& case_name,
                                 const std::string& subject, const std::string& metric) const {
    for (const measurement& m : all_) {
        if (m.suite == suite && m.case_name == case_name && m.subject == subject &&
            m.metric == metric) {
            return &m;
        }
    }
    return nullptr;
}

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

std::vector<double> rounds::ratios(std::size_t subject) const {
    std::vector<double> all;
    for (std::size_t r = 0; r < values_[0].size(); ++r) {
        const double reference = values_[0][r];
        all.push_back(reference > 0 ? values_[subject][r] / reference : std::nan(""));
    }
    return all;
}

void rounds::store(results& out, const std::string& suite, const std::string& case_name,
                   const std::string& metric) const {
    for (std::size_t s = 0; s < subjects_.size(); ++s) {
        measurement m{suite, case_name, subjects_[s], metric, {}, {}, missing_[s]};
        if (!failed(s)) {
            m.value = summarise(values_[s]);
            m.ratio = summarise(ratios(s));
        }
        out.add(std::move(m));
    }
}

}  // namespace bench
