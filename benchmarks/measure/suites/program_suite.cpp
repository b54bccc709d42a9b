// SPDX-License-Identifier: Apache-2.0

// Runs the programs of a suite by turns.
#include "measure/suites/program_suite.hpp"

#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "measure/child.hpp"
#include "measure/cores.hpp"
#include "measure/rounds.hpp"
#include "measure/subject.hpp"

namespace bench {

namespace {

constexpr std::int64_t run_max_ns = 30'000'000'000;

/// The values of lines "metric value"; throws if the program did not print any.
std::vector<double> values_of(const std::string& printed, const std::string& metric) {
    std::vector<double> values;
    std::istringstream lines(printed);
    std::string name;
    double value = 0;
    while (lines >> name >> value) {
        if (name == metric) values.push_back(value);
    }
    if (values.empty()) throw std::runtime_error("did not print " + metric);
    return values;
}

std::string run(const subject& what, const std::vector<std::string>& arguments) {
    if (const std::string why = what.missing(); !why.empty()) throw std::runtime_error(why);
    return child(what.run(arguments)).read_all(run_max_ns);
}

void ask(context& c, const program_suite& suite, const question& q,
         const std::vector<subject>& subjects, const std::vector<std::string>& names) {
    const unsigned count = c.chosen.quick ? suite.quick_rounds : suite.rounds;
    const auto& arguments = c.chosen.quick ? q.quick_arguments : q.arguments;
    std::vector<rounds> found(q.metrics.size(), rounds(names, count));
    for (unsigned r = 0; r < count && !c.time.over(r); ++r) {
        for (std::size_t k = 0; k < subjects.size(); ++k) {
            const std::size_t i = (k + r) % subjects.size();
            if (found[0].failed(i)) continue;
            c.out.step(std::to_string(r + 1) + "/" + std::to_string(count) + " " + names[i]);
            try {
                const std::string printed = run(subjects[i], arguments);
                for (std::size_t m = 0; m < q.metrics.size(); ++m) {
                    found[m].set(i, r, values_of(printed, q.metrics[m])[0]);
                }
                if (r == 0 && !q.curve.empty()) {
                    c.out.curve({suite.name, q.case_name, q.curve, names[i]},
                                values_of(printed, q.curve));
                }
            } catch (const std::runtime_error& e) {
                for (rounds& f : found) f.fail(i, e.what());
            }
        }
    }
    for (std::size_t m = 0; m < q.metrics.size(); ++m) {
        found[m].print(c.out, suite.name, q.case_name, q.metrics[m]);
    }
}

}  // namespace

void ask_programs(context& c, const program_suite& suite, const std::vector<subject>& subjects,
                  std::string_view part) {
    unpin();
    const std::vector<std::string> names = names_of(subjects);
    std::vector<question> wanted = suite.questions;
    std::erase_if(wanted, [&](const question& q) { return !c.chosen.wants_case(q.case_name); });
    c.begin_part(part, wanted.size());
    for (const question& q : wanted) {
        c.begin_case(suite.name, q.case_name);
        ask(c, suite, q, subjects, names);
    }
}

void measure_programs(context& c, const program_suite& suite) {
    ask_programs(c, suite, subjects_of(suite.name, c.chosen), suite.name);
    c.out.complete();
}

}  // namespace bench
