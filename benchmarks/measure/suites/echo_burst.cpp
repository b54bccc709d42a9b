// SPDX-License-Identifier: Apache-2.0

// Measures the CPU time of echo servers, by turns.
#include "measure/suites/echo_burst.hpp"

#include <memory>
#include <stdexcept>
#include <vector>

#include "load/burst.hpp"
#include "measure/cores.hpp"
#include "measure/server_set.hpp"
#include "measure/suites/echo_cases.hpp"

namespace bench {

namespace {

constexpr const char* metric = "server_cpu_ns_per_request";
constexpr std::int64_t warm_up_ns = 5'000'000;
/// A burst or a few, until what the servers before have left in the caches is gone.
constexpr std::int64_t refresh_ns = 200'000;

/// A round goes round all servers several times if there is time: the shorter the way back to the
/// reference, the more alike is what the machine's other users do to both.
struct plan {
    unsigned rounds;
    unsigned turns;
    std::int64_t slice_ns;
};

plan plan_for(const options& o) {
    return o.quick ? plan{5, 1, 40'000'000} : plan{20, 4, 25'000'000};
}

/// Sums up the work of a server in the slices of a round.
class cpu_of_requests {
public:
    void add(pid_t pid, burst_load& load, std::int64_t slice_ns) {
        load.run_for(refresh_ns);
        const std::uint64_t before = cpu_time_ns(pid);
        requests_ += load.run_for(slice_ns);
        ns_ += cpu_time_ns(pid) - before;
    }
    double ns_a_request() const {
        return static_cast<double>(ns_) / static_cast<double>(requests_);
    }

private:
    std::uint64_t ns_ = 0;
    std::uint64_t requests_ = 0;
};

/// All servers are connected at once; each slice talks to one of them.
void measure_case(context& c, server_set& servers, const load_shape& shape, const plan& p) {
    rounds found(servers.names(), p.rounds);
    std::vector<std::unique_ptr<burst_load>> loads(servers.size());
    servers.for_each(found, [&](std::size_t i) {
        loads[i] = std::make_unique<burst_load>(servers.at(i).port(), shape);
        loads[i]->check();
        loads[i]->run_for(warm_up_ns);
    });
    for (unsigned r = 0; r < p.rounds && !c.time.over(r); ++r) {
        c.out.step("round " + std::to_string(r + 1) + "/" + std::to_string(p.rounds));
        std::vector<cpu_of_requests> used(servers.size());
        for (unsigned t = 0; t < p.turns; ++t) {
            servers.for_each_rotated(found, r * p.turns + t, [&](std::size_t i) {
                used[i].add(servers.at(i).pid(), *loads[i], p.slice_ns);
                found.set(i, r, used[i].ns_a_request());
            });
        }
    }
    found.print(c.out, "echo", shape.name(), metric);
}

}  // namespace

void measure_echo_burst(context& c) {
    const core_pair cores = choose_cores();
    pin(0, cores.server);
    server_set servers("echo", c.chosen, cores.server);
    servers.set_batch(true);
    const plan p = plan_for(c.chosen);
    std::size_t cases = 0;
    for (const load_shape& message : echo_messages()) {
        cases += echo_shapes(message, c.chosen).size();
    }
    c.begin_part("echo", cases);
    for (const load_shape& group : echo_messages()) {
        for (const load_shape& shape : echo_shapes(group, c.chosen)) {
            c.begin_case("echo burst", shape.name());
            measure_case(c, servers, shape, p);
        }
        c.out.complete();
    }
}

}  // namespace bench
