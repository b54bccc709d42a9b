#include "driver/echo_counts.hpp"

#include <array>
#include <stdexcept>

#include "driver/cores.hpp"
#include "driver/echo_cases.hpp"
#include "driver/heap_counter.hpp"
#include "driver/server.hpp"
#include "driver/table.hpp"
#include "driver/tracer.hpp"
#include "load/burst.hpp"

namespace bench {

namespace {

constexpr std::array<unsigned, 2> counted_connections{1, 50};
void run_bursts(burst_load& load, unsigned count) {
    for (unsigned i = 0; i < count; ++i) load.one_burst();
}

double a_request(std::uint64_t shorter, std::uint64_t longer, unsigned requests) {
    return (static_cast<double>(longer) - static_cast<double>(shorter)) / requests;
}

/// The difference of two run lengths: what attaching costs falls out.
double traced_a_request(const server& s, burst_load& load, traced what, unsigned bursts) {
    const auto count = [&](unsigned n) {
        return count_while(s.pid(), what, [&] { run_bursts(load, n); });
    };
    const std::uint64_t shorter = count(bursts);
    const std::uint64_t longer = count(2 * bursts);
    return a_request(shorter, longer, bursts * load.shape().requests_a_burst());
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
                            unsigned bursts) {
    server s(what, core);
    set_batch_scheduling(s.pid(), true);
    burst_load load(s.port(), shape);
    run_bursts(load, 100);
    return traced_a_request(s, load, kind, bursts);
}

struct counted_metric {
    const char* name;
    const char* title;
    double (*count)(const subject& what, int core, const load_shape& shape);
};

/// Each in a server of its own: where tracing is forbidden, allocations still have a value.
constexpr std::array<counted_metric, 3> metrics{{
    {"syscalls_per_request", "syscalls",
     [](const subject& what, int core, const load_shape& shape) {
         return traced_in_new_server(what, core, shape, traced::syscalls, 20);
     }},
    {"user_instructions_per_request", "instr.",
     [](const subject& what, int core, const load_shape& shape) {
         // A step costs ten microseconds, and all bursts are alike.
         const unsigned bursts = shape.connections == 1 ? 8 : 1;
         return traced_in_new_server(what, core, shape, traced::instructions, bursts);
     }},
    {"allocations_per_request", "allocs",
     [](const subject& what, int core, const load_shape& shape) {
         return allocations_a_request(what, core, shape, 200);
     }},
}};

void count_case(context& c, const std::vector<subject>& subjects,
                const std::vector<std::string>& names, int core, const load_shape& shape) {
    for (const counted_metric& m : metrics) {
        rounds found(names, 1);
        for (std::size_t i = 0; i < subjects.size(); ++i) {
            c.shown.step(std::string(m.title) + " " + names[i]);
            try {
                found.set(i, 0, m.count(subjects[i], core, shape));
            } catch (const std::runtime_error& e) {
                found.fail(i, e.what());
            }
        }
        found.store(c.found, "echo", shape.name(), m.name);
    }
}

}  // namespace

void measure_echo_counts(context& c) {
    const int core = choose_cores().server;
    pin(0, core);
    const std::vector<subject> subjects = subjects_of("echo", c.chosen);
    const std::vector<std::string> names = names_of(subjects);
    std::vector<table_column> columns;
    for (unsigned connections : counted_connections) {
        const load_shape shape{connections, 64, 1};
        if (!c.chosen.wants_case(shape.name())) continue;
        c.shown.phase("echo counts " + shape.name());
        count_case(c, subjects, names, core, shape);
        for (const counted_metric& m : metrics) {
            const bool first = &m == &metrics[0];
            columns.push_back({first ? connections_title(connections) : "", shape.name(), m.name,
                               m.title, false});
        }
    }
    if (columns.empty()) return;
    c.shown.clear();
    print_table(c.found, "echo", "echo, 64 B: counts a request (instructions in user space)", names,
                columns);
}

}  // namespace bench
