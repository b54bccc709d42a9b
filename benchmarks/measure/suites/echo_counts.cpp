// SPDX-License-Identifier: Apache-2.0

// Counts system calls, instructions and allocations of echo servers.
#include "measure/suites/echo_counts.hpp"

#include <array>
#include <stdexcept>

#include "load/burst.hpp"
#include "measure/cores.hpp"
#include "measure/heap_counter.hpp"
#include "measure/rounds.hpp"
#include "measure/server.hpp"
#include "measure/suites/echo_cases.hpp"
#include "measure/tracer.hpp"

namespace bench {

namespace {

constexpr std::array<unsigned, 2> counted_connections{1, 50};

/// How many bursts the two runs have whose difference counts.
struct run_lengths {
    unsigned shorter;
    unsigned longer;
};

constexpr run_lengths traced_calls{20, 40};

/// A step costs ten microseconds and more, and all bursts are alike.
run_lengths stepped_bursts(const load_shape& shape, bool quick) {
    if (shape.connections == 1) return quick ? run_lengths{2, 6} : run_lengths{8, 16};
    return quick ? run_lengths{0, 1} : run_lengths{1, 2};
}

void run_bursts(burst_load& load, unsigned count) {
    for (unsigned i = 0; i < count; ++i) load.one_burst();
}

double a_request(std::uint64_t shorter, std::uint64_t longer, unsigned requests) {
    return (static_cast<double>(longer) - static_cast<double>(shorter)) / requests;
}

/// The difference of two run lengths: what attaching costs falls out.
double traced_a_request(const server& s, burst_load& load, traced what, run_lengths bursts) {
    const auto count = [&](unsigned n) {
        return count_while(s.pid(), what, [&] { run_bursts(load, n); });
    };
    const std::uint64_t shorter = count(bursts.shorter);
    const std::uint64_t longer = count(bursts.longer);
    const unsigned more = bursts.longer - bursts.shorter;
    return a_request(shorter, longer, more * load.shape().requests_a_burst());
}

double allocations_a_request(const subject& what, int core, const load_shape& shape,
                             unsigned bursts) {
    heap_counter heap;
    server s(what, core, heap.preload());
    burst_load load(s.port(), shape);
    run_bursts(load, bursts);  // pools and caches fill
    const std::uint64_t before = heap.allocations();
    run_bursts(load, bursts);
    return a_request(before, heap.allocations(), bursts * shape.requests_a_burst());
}

double traced_in_new_server(const subject& what, int core, const load_shape& shape, traced kind,
                            run_lengths bursts) {
    server s(what, core);
    set_batch_scheduling(s.pid(), true);
    burst_load load(s.port(), shape);
    run_bursts(load, 100);
    return traced_a_request(s, load, kind, bursts);
}

struct counted_metric {
    const char* name;
    const char* words;
    double (*count)(const subject& what, int core, const load_shape& shape, bool quick);
};

/// Each in a server of its own: where tracing is forbidden, allocations still have a value.
constexpr std::array<counted_metric, 3> metrics{{
    {"syscalls_per_request", "syscalls",
     [](const subject& what, int core, const load_shape& shape, bool) {
         return traced_in_new_server(what, core, shape, traced::syscalls, traced_calls);
     }},
    {"allocations_per_request", "allocations",
     [](const subject& what, int core, const load_shape& shape, bool) {
         return allocations_a_request(what, core, shape, 200);
     }},
    {"user_instructions_per_request", "instructions",
     [](const subject& what, int core, const load_shape& shape, bool quick) {
         return traced_in_new_server(what, core, shape, traced::instructions,
                                     stepped_bursts(shape, quick));
     }},
}};

void count_case(context& c, const std::vector<subject>& subjects,
                const std::vector<std::string>& names, int core, const load_shape& shape) {
    for (const counted_metric& m : metrics) {
        rounds found(names, 1);
        // eddy's come last in the table, and first here: if time is short, it is not they who lack.
        for (std::size_t i = subjects.size(); i-- > 0;) {
            c.out.step(std::string(m.words) + " " + names[i]);
            try {
                c.time.need_some();
                found.set(i, 0, m.count(subjects[i], core, shape, c.chosen.quick));
            } catch (const std::runtime_error& e) {
                found.fail(i, e.what());
            }
        }
        found.print(c.out, "echo", shape.name(), m.name);
    }
}

}  // namespace

void measure_echo_counts(context& c) {
    const int core = choose_cores().server;
    pin(0, core);
    const std::vector<subject> subjects = subjects_of("echo", c.chosen);
    const std::vector<std::string> names = names_of(subjects);
    c.begin_part("echo_counts", 1);
    for (unsigned connections : counted_connections) {
        const load_shape shape{connections, 64, 1};
        if (!c.chosen.wants_case(shape.name())) continue;
        c.out.phase("echo counts " + shape.name());
        count_case(c, subjects, names, core, shape);
    }
    c.out.complete();
}

}  // namespace bench
