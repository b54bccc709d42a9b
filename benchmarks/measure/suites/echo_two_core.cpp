// SPDX-License-Identifier: Apache-2.0

// Measures throughput and latency of echo servers on two cores.
#include "measure/suites/echo_two_core.hpp"

#include <array>
#include <memory>

#include "load/closed_loop.hpp"
#include "measure/cores.hpp"
#include "measure/server_set.hpp"
#include "measure/suites/echo_cases.hpp"

namespace bench {

namespace {

struct plan {
    unsigned rounds;
    std::int64_t slice_ns;
};

/// The name of the results, and how the client waits.
struct two_core_case {
    std::string suite;
    std::string name;
    load_shape shape;
    client_waits how;
};

plan plan_for_spin(const options& o) {
    return o.quick ? plan{3, 40'000'000} : plan{11, 100'000'000};
}

void measure_case(context& c, server_set& servers, const two_core_case& what, const plan& p) {
    const std::array metrics{"requests_per_s", "latency_p50_us", "latency_p99_us"};
    std::vector<rounds> found(metrics.size(), rounds(servers.names(), p.rounds));
    std::vector<std::unique_ptr<closed_loop_load>> loads(servers.size());
    servers.for_each(found[0], [&](std::size_t i) {
        loads[i] = std::make_unique<closed_loop_load>(servers.at(i).port(), what.shape, what.how);
    });
    for (unsigned r = 0; r < p.rounds && !c.time.over(r); ++r) {
        c.out.step("round " + std::to_string(r + 1) + "/" + std::to_string(p.rounds));
        servers.for_each_rotated(found[0], r, [&](std::size_t i) {
            const closed_loop_result got = loads[i]->run_for(p.slice_ns);
            found[0].set(i, r, got.requests_per_s);
            found[1].set(i, r, got.p50_us);
            found[2].set(i, r, got.p99_us);
        });
    }
    for (std::size_t m = 0; m < metrics.size(); ++m) {
        found[m].print(c.out, what.suite, what.name, metrics[m]);
    }
}

}  // namespace

void measure_echo_two_core(context& c) {
    const core_pair cores = choose_cores();
    pin(0, cores.client);
    server_set servers("echo", c.chosen, cores.server);
    const std::vector<load_shape> shapes = echo_shapes({1, 64, 1}, c.chosen);
    c.begin_part("echo_two_core", shapes.size());
    for (const load_shape& shape : shapes) {
        c.begin_case("echo on two cores", shape.name());
        measure_case(c, servers, {"echo", shape.name(), shape, client_waits::blocking},
                     {7, 300'000'000});
    }
    c.out.complete();
}

void measure_spin(context& c) {
    const core_pair cores = choose_cores();
    pin(0, cores.client);
    server_set servers("spin", c.chosen, cores.server);
    const std::array<two_core_case, 2> cases{
        {{"spin", "client_spins", {1, 64, 1}, client_waits::spinning},
         {"spin", "client_blocks", {1, 64, 1}, client_waits::blocking}}};
    c.begin_part("spin", cases.size());
    for (const two_core_case& what : cases) {
        if (!c.chosen.wants_case(what.name)) continue;
        c.begin_case("echo on two cores", what.name);
        measure_case(c, servers, what, plan_for_spin(c.chosen));
    }
    c.out.complete();
}

}  // namespace bench
