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
constexpr std::array<const char*, 3> metrics{
    "syscalls_per_request", "user_instructions_per_request", "allocations_per_request"};

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
    const std::uint64_t longer = count(3 * bursts);
    return a_request(shorter, longer, 2 * bursts * load.shape().requests_a_burst());
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

std::array<double, 3> count_all(const subject& what, int core, unsigned connections) {
    const load_shape shape{connections, 64, 1};
    const unsigned bursts = connections == 1 ? 10 : 1;  // a step costs ten microseconds
    std::array<double, 3> found{};
    {
        server s(what, core);
        set_batch_scheduling(s.pid(), true);
        burst_load load(s.port(), shape);
        run_bursts(load, 100);
        found[0] = traced_a_request(s, load, traced::syscalls, 10 * bursts);
        found[1] = traced_a_request(s, load, traced::instructions, bursts);
    }
    found[2] = allocations_a_request(what, core, shape, 200);
    return found;
}

void count_case(context& c, const std::vector<subject>& subjects,
                const std::vector<std::string>& names, int core, unsigned connections) {
    std::vector<rounds> found(metrics.size(), rounds(names, 1));
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        c.shown.step(names[i]);
        try {
            const auto counts = count_all(subjects[i], core, connections);
            for (std::size_t m = 0; m < metrics.size(); ++m) found[m].set(i, 0, counts[m]);
        } catch (const std::runtime_error& e) {
            for (rounds& r : found) r.fail(i, e.what());
        }
    }
    for (std::size_t m = 0; m < metrics.size(); ++m) {
        found[m].store(c.found, "echo", load_shape{connections, 64, 1}.name(), metrics[m]);
    }
}

}  // namespace

void measure_echo_counts(context& c) {
    const int core = choose_cores().server;
    pin(0, core);
    const std::vector<subject> subjects = subjects_of("echo", c.chosen);
    std::vector<std::string> names;
    for (const subject& s : subjects) names.push_back(s.name);
    std::vector<table_column> columns;
    for (unsigned connections : counted_connections) {
        const std::string name = load_shape{connections, 64, 1}.name();
        if (!c.chosen.wants_case(name)) continue;
        c.shown.phase("echo counts " + name);
        count_case(c, subjects, names, core, connections);
        columns.push_back({connections_title(connections), name, metrics[0], "syscalls", false});
        columns.push_back({"", name, metrics[1], "instr.", false});
        columns.push_back({"", name, metrics[2], "allocs", false});
    }
    if (columns.empty()) return;
    c.shown.clear();
    print_table(c.found, "echo", "echo, 64 B: counts a request (instructions in user space)", names,
                columns);
}

}  // namespace bench
