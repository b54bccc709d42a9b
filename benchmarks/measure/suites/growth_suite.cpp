// SPDX-License-Identifier: Apache-2.0

// Measures costs with more and more connections or timers.
#include "measure/suites/growth_suite.hpp"

#include <stdexcept>

#include "load/burst.hpp"
#include "measure/cores.hpp"
#include "measure/server_set.hpp"
#include "measure/suites/program_suite.hpp"

namespace bench {

namespace {

constexpr const char* suite = "growth";
constexpr std::int64_t slice_ns = 200'000'000;
constexpr std::int64_t quick_slice_ns = 50'000'000;

/// Few are enough to see how something grows, unless others were asked for.
options with_subjects(const options& chosen, std::vector<std::string> names) {
    options o = chosen;
    if (o.subjects.empty()) o.subjects = std::move(names);
    return o;
}

std::string counted(unsigned n) {
    if (n >= 1'000'000) return std::to_string(n / 1'000'000) + "M";
    return n >= 1'000 ? std::to_string(n / 1'000) + "k" : std::to_string(n);
}

/// Something that is measured for more and more of something else.
struct growth {
    std::string metric;
    std::string of;
    std::vector<unsigned> counts;

    std::string case_name(unsigned count) const { return counted(count) + "_" + of; }
};

growth connection_growth(bool quick) {
    growth g{"server_cpu_ns_per_request", "connections", {10, 100, 1'000, 8'000}};
    if (quick) g.counts.erase(g.counts.begin() + 1);
    return g;
}

growth timer_growth(bool quick) {
    growth g{"cancel_and_set_ns", "timers", {1'000, 10'000, 100'000, 1'000'000, 10'000'000}};
    if (quick) g.counts.pop_back();
    return g;
}

/// One server at a time: all of them together would need more descriptors than there are.
double cpu_a_request(server& s, unsigned connections, std::int64_t length_ns) {
    // While it connects, the client must not keep the server from accepting.
    set_batch_scheduling(s.pid(), false);
    burst_load load(s.port(), {connections, 64, 1});
    load.check();
    set_batch_scheduling(s.pid(), true);
    load.one_burst();
    const std::uint64_t before = cpu_time_ns(s.pid());
    const std::uint64_t requests = load.run_for(length_ns);
    return static_cast<double>(cpu_time_ns(s.pid()) - before) / static_cast<double>(requests);
}

void measure_connections(context& c) {
    const growth g = connection_growth(c.chosen.quick);
    const core_pair cores = choose_cores();
    pin(0, cores.server);
    const options chosen = with_subjects(c.chosen, {"raw_epoll", "raw_uring", "libev", "asio",
                                                    "eddy_epoll", "eddy_uring", "eddy_coro_epoll"});
    server_set servers("echo", chosen, cores.server);
    const unsigned count = c.chosen.quick ? 1 : 5;
    const std::int64_t length_ns = c.chosen.quick ? quick_slice_ns : slice_ns;
    c.begin_part("growth", g.counts.size());
    for (unsigned n : g.counts) {
        if (!c.chosen.wants_case(g.case_name(n))) continue;
        c.begin_case(suite, g.case_name(n));
        rounds found(servers.names(), count);
        for (unsigned r = 0; r < count && !c.time.over(r); ++r) {
            c.out.step("round " + std::to_string(r + 1) + "/" + std::to_string(count));
            servers.for_each_rotated(found, r, [&](std::size_t i) {
                found.set(i, r, cpu_a_request(servers.at(i), n, length_ns));
            });
        }
        found.print(c.out, suite, g.case_name(n), g.metric);
    }
    c.out.complete();
}

void measure_timers(context& c) {
    const growth g = timer_growth(c.chosen.quick);
    const options chosen = with_subjects(c.chosen, {"libev", "eddy_epoll"});
    program_suite s{.name = suite, .questions = {}, .rounds = 5, .quick_rounds = 1};
    for (unsigned n : g.counts) {
        const std::vector<std::string> arguments{"cancel_and_set", std::to_string(n), "500000"};
        s.questions.push_back({g.case_name(n), arguments, arguments, {g.metric}});
    }
    ask_programs(c, s, subjects_of("timer", chosen), "growth_timers");
    c.out.complete();
}

}  // namespace

void measure_growth(context& c) {
    measure_connections(c);
    measure_timers(c);
}

}  // namespace bench
