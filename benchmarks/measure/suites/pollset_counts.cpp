// SPDX-License-Identifier: Apache-2.0

// Counts system calls and instructions of pollsets by ptrace.
#include "measure/suites/pollset_counts.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

#include "common/unique_fd.hpp"
#include "measure/child.hpp"
#include "measure/rounds.hpp"
#include "measure/subject.hpp"
#include "measure/tracer.hpp"

namespace bench {

namespace {

/// Stepping takes its time. Few are exact too: what a turn costs is the same each time.
unsigned events_of(const options& chosen) { return chosen.quick ? 16 : 40; }

constexpr std::int64_t patience_ns = 30'000'000'000;

/// A pollset with one thread that plays when it is told to.
class counted_pollset {
public:
    counted_pollset(const subject& what, unsigned pairs, unsigned events)
        : events_(events), pipe_(make_pipe()), child_(start(what, pairs)) {
        play(100);  // pools and caches fill
    }

    /// The difference of two run lengths: what attaching costs falls out.
    double an_event(traced what) {
        const auto count = [&](unsigned times) {
            return count_while(child_.pid(), what, [&] { play(times); });
        };
        const auto shorter = static_cast<double>(count(1));
        return (static_cast<double>(count(2)) - shorter) / events_;
    }

private:
    struct pipe_ends {
        unique_fd reader;
        unique_fd writer;
    };

    static pipe_ends make_pipe() {
        int fds[2];
        if (::pipe2(fds, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
        return {unique_fd(fds[0]), unique_fd(fds[1])};
    }

    command start(const subject& what, unsigned pairs) const {
        if (const std::string why = what.missing(); !why.empty()) throw std::runtime_error(why);
        const int orders = pipe_.reader.get();
        command c = what.run(
            {"counted", std::to_string(orders), std::to_string(pairs), std::to_string(events_)});
        c.inherited_fd = orders;
        return c;
    }

    void play(unsigned times) {
        const char order = static_cast<char>(times);
        if (::write(pipe_.writer.get(), &order, 1) != 1) throw std::runtime_error("write failed");
        child_.read_line(patience_ns);
    }

    unsigned events_;
    pipe_ends pipe_;
    child child_;
};

struct counted_metric {
    const char* name;
    const char* words;
    traced what;
};

constexpr std::array<counted_metric, 2> metrics{
    {{"syscalls_per_event", "syscalls", traced::syscalls},
     {"user_instructions_per_event", "instructions", traced::instructions}}};

struct counted_case {
    const char* name;
    unsigned pairs;
};

constexpr std::array<counted_case, 2> cases{{{"1_event", 1}, {"8_events", 8}}};

}  // namespace

void measure_pollset_counts(context& c) {
    const std::vector<subject> subjects = subjects_of("pollset", c.chosen);
    const std::vector<std::string> names = names_of(subjects);
    c.begin_part("pollset_counts", 1);
    for (const counted_case& counted : cases) {
        if (!c.chosen.wants_case(counted.name)) continue;
        c.out.phase(std::string("pollset counts ") + counted.name);
        for (const counted_metric& m : metrics) {
            rounds found(names, 1);
            for (std::size_t i = 0; i < subjects.size(); ++i) {
                c.out.step(std::string(m.words) + " " + names[i]);
                try {
                    c.time.need_some();
                    counted_pollset child(subjects[i], counted.pairs, events_of(c.chosen));
                    found.set(i, 0, child.an_event(m.what));
                } catch (const std::runtime_error& e) {
                    found.fail(i, e.what());
                }
            }
            found.print(c.out, "pollset", counted.name, m.name);
        }
    }
    c.out.complete();
}

}  // namespace bench
