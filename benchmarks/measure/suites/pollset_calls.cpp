// SPDX-License-Identifier: Apache-2.0

// Runs pollsets under strace.
#include "measure/suites/pollset_calls.hpp"

#include <array>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "measure/child.hpp"
#include "measure/rounds.hpp"
#include "measure/subject.hpp"

namespace bench {

namespace {

constexpr std::int64_t patience_ns = 60'000'000'000;

struct called_metric {
    const char* name;
    bool (*counts)(std::string_view call);
};

constexpr std::array<called_metric, 3> metrics{
    {{"all_futex_per_event", [](std::string_view call) { return call == "futex"; }},
     {"all_waits_per_event",
      [](std::string_view call) {
          return call.starts_with("epoll_wait") || call.starts_with("epoll_pwait") ||
                 call == "poll" || call == "ppoll";
      }},
     {"all_writes_per_event", [](std::string_view call) { return call == "write"; }}}};

struct called_case {
    const char* name;
    std::vector<std::string> question;  ///< and how many events
    unsigned events;                    ///< tracing takes its time
};

const std::array<called_case, 4>& cases() {
    static const std::array<called_case, 4> all{{{"herd_8", {"herd", "8", "16"}, 300},
                                                 {"4x1x16", {"matrix", "4", "1", "16"}, 600},
                                                 {"2x2x16", {"matrix", "2", "2", "16"}, 600},
                                                 {"4x4x16", {"matrix", "4", "4", "16"}, 600}}};
    return all;
}

using counts = std::array<double, metrics.size()>;

/// Lines of a number and a name, among others.
counts read_summary(const std::string& text) {
    counts found{};
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        double number = 0;
        std::string name;
        if (!(words >> number >> name)) continue;
        for (std::size_t i = 0; i < metrics.size(); ++i) {
            if (metrics[i].counts(name)) found[i] += number;
        }
    }
    return found;
}

counts count_calls(const subject& what, const called_case& asked, unsigned events) {
    if (const std::string why = what.missing(); !why.empty()) throw std::runtime_error(why);
    std::vector<std::string> arguments = asked.question;
    arguments.push_back(std::to_string(events));
    command traced = what.run(std::move(arguments));
    const std::string program = traced.program;
    traced.program = "/usr/bin/env";
    traced.arguments.insert(traced.arguments.begin(), {"strace", "-f", "-c", "-U", "calls,name",
                                                       "-o", "/dev/stdout", program});
    return read_summary(child(traced).read_all(patience_ns));
}

/// The difference of two run lengths: what starting and ending cost falls out.
counts an_event(const subject& what, const called_case& asked, unsigned events) {
    const counts shorter = count_calls(what, asked, events);
    counts found = count_calls(what, asked, 3 * events);
    for (std::size_t i = 0; i < found.size(); ++i)
        found[i] = (found[i] - shorter[i]) / (2 * events);
    return found;
}

}  // namespace

void measure_pollset_calls(context& c) {
    const std::vector<subject> subjects = subjects_of("pollset", c.chosen);
    const std::vector<std::string> names = names_of(subjects);
    bool counted_one = false;
    c.begin_part("pollset_calls", 1);
    for (const called_case& asked : cases()) {
        const bool at_length = !c.chosen.quick || !c.chosen.cases.empty();
        if (!c.chosen.wants_case(asked.name) || (!at_length && counted_one)) continue;
        c.out.phase(std::string("pollset calls ") + asked.name);
        std::vector<rounds> found(metrics.size(), rounds(names, 1));
        for (std::size_t i = 0; i < subjects.size(); ++i) {
            c.out.step(names[i]);
            try {
                c.time.need_some();
                const unsigned events = asked.events / (at_length ? 1 : 10);
                const counts an = an_event(subjects[i], asked, events);
                for (std::size_t m = 0; m < metrics.size(); ++m) found[m].set(i, 0, an[m]);
            } catch (const std::runtime_error& e) {
                for (rounds& each : found) each.fail(i, e.what());
            }
        }
        for (std::size_t m = 0; m < metrics.size(); ++m) {
            found[m].print(c.out, "pollset", asked.name, metrics[m].name);
        }
        counted_one = true;
    }
    c.out.complete();
}

}  // namespace bench
