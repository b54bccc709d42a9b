// SPDX-License-Identifier: Apache-2.0

// The lines that the driver prints: what it does, and what it has measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// Names a value: one metric of one subject in one case of a suite.
struct value_name {
    std::string suite;
    std::string case_name;
    std::string metric;
    std::string subject;
};

/// Prints one JSON object per line on standard output. `benchmarks/report` reads the lines: it
/// shows the progress, summarises the rounds and prints the tables. The first subject of a metric
/// is the reference of its ratios.
class output {
public:
    output();
    output(const output&) = delete;
    output& operator=(const output&) = delete;

    /// Names the piece of work that begins.
    void phase(const std::string& name);
    /// Names a part of the phase. Prints nothing unless a person watches: standard error is a
    /// terminal. A reader that wakes up for each step would disturb the measurement.
    void step(const std::string& what);

    /// One value per round; not a number where a round has none.
    void rounds(const value_name& name, const std::vector<double>& values);
    /// Says why there is no value.
    void missing(const value_name& name, const std::string& why);
    /// A value over time, in percent.
    void curve(const value_name& name, const std::vector<double>& percents);
    /// A fact in words.
    void note(const value_name& name, const std::string& text);

    /// All values of the tables that were begun have been printed.
    void complete();
    /// The time that a suite has taken.
    void took(const std::string& suite, std::int64_t seconds);
    /// The run ends here. `misuse`: because of the arguments.
    void failed(const std::string& why, bool misuse);

private:
    bool watched_;
};

}  // namespace bench
