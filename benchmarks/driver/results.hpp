// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/stats.hpp"

namespace bench {

/// One value of one subject: over all rounds, with its ratio to the reference in the same round.
struct measurement {
    std::string suite;
    std::string case_name;
    std::string subject;
    std::string metric;
    summary value;
    summary ratio;
    std::string missing;  // why there is no value
};

/// A value of one subject over time, in percent.
struct curve {
    std::string case_name;
    std::string subject;
    std::vector<double> percents;
};

class results {
public:
    void add(curve c) { curves_.push_back(std::move(c)); }
    const std::vector<curve>& curves() const noexcept { return curves_; }
    void add(measurement m) { all_.push_back(std::move(m)); }
    const std::vector<measurement>& all() const noexcept { return all_; }
    const measurement* find(const std::string& suite, const std::string& case_name,
                            const std::string& subject, const std::string& metric) const;

private:
    std::vector<measurement> all_;
    std::vector<curve> curves_;
};

/// What the rounds of one case and metric gave. Ratios are taken inside a round, where the
/// machine's mood is the same for all; the median comes after that.
class rounds {
public:
    rounds(std::vector<std::string> subjects, unsigned count);

    void set(std::size_t subject, unsigned round, double value);
    void fail(std::size_t subject, std::string reason);
    bool failed(std::size_t subject) const { return !missing_[subject].empty(); }

    void store(results& out, const std::string& suite, const std::string& case_name,
               const std::string& metric) const;

private:
    std::vector<double> ratios(std::size_t subject) const;

    std::vector<std::string> subjects_;
    std::vector<std::vector<double>> values_;
    std::vector<std::string> missing_;
};

}  // namespace bench
