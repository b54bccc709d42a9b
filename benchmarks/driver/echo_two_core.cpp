#include "driver/echo_two_core.hpp"

#include <array>
#include <memory>

#include "driver/cores.hpp"
#include "driver/echo_cases.hpp"
#include "driver/server_set.hpp"
#include "driver/table.hpp"
#include "load/closed_loop.hpp"

namespace bench {

namespace {

constexpr const char* throughput = "requests_per_s";
constexpr const char* p50 = "latency_p50_us";
constexpr const char* p99 = "latency_p99_us";

constexpr unsigned rounds_max = 7;
constexpr std::int64_t slice_ns = 300'000'000;

void measure_case(context& c, server_set& servers, const load_shape& shape) {
    const std::array metrics{throughput, p50, p99};
    std::vector<rounds> found(metrics.size(), rounds(servers.names(), rounds_max));
    std::vector<std::unique_ptr<closed_loop_load>> loads(servers.size());
    servers.for_each(found[0], [&](std::size_t i) {
        loads[i] = std::make_unique<closed_loop_load>(servers.at(i).port(), shape);
    });
    for (unsigned r = 0; r < rounds_max && !c.time.over(r); ++r) {
        c.shown.step("round " + std::to_string(r + 1) + "/" + std::to_string(rounds_max));
        servers.for_each_rotated(found[0], r, [&](std::size_t i) {
            const closed_loop_result got = loads[i]->run_for(slice_ns);
            found[0].set(i, r, got.requests_per_s);
            found[1].set(i, r, got.p50_us);
            found[2].set(i, r, got.p99_us);
        });
    }
    for (std::size_t m = 0; m < metrics.size(); ++m) {
        found[m].store(c.found, "echo", shape.name(), metrics[m]);
    }
}

}  // namespace

void measure_echo_two_core(context& c) {
    const core_pair cores = choose_cores();
    pin(0, cores.client);
    server_set servers("echo", c.chosen, cores.server);
    std::vector<table_column> columns;
    const std::vector<load_shape> shapes = echo_shapes({1, 64, 1}, c.chosen);
    c.begin_part("echo_two_core", shapes.size());
    for (const load_shape& shape : shapes) {
        c.begin_case("echo on two cores", shape.name());
        measure_case(c, servers, shape);
        columns.push_back(
            {connections_title(shape.connections), shape.name(), throughput, "req/s", false});
        columns.push_back({"", shape.name(), p50, "p50 us", false});
        columns.push_back({"", shape.name(), p99, "p99 us", false});
    }
    if (columns.empty()) return;
    c.shown.clear();
    print_table(c.found, "echo", "echo, 64 B: client and server on two cores (informative)",
                servers.names(), columns);
}

}  // namespace bench
