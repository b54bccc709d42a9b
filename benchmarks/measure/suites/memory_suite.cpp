// SPDX-License-Identifier: Apache-2.0

// Measures the memory of idle connections.
#include "measure/suites/memory_suite.hpp"

#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>

#include "load/burst.hpp"
#include "measure/cores.hpp"
#include "measure/heap_counter.hpp"
#include "measure/rounds.hpp"
#include "measure/server.hpp"

namespace bench {

namespace {

constexpr unsigned connections = 2000;
constexpr const char* case_name = "2000_idle";

double resident_bytes(pid_t pid) {
    const std::string path = "/proc/" + std::to_string(pid) + "/status";
    std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
    char line[256];
    unsigned long kib = 0;
    while (file && std::fgets(line, sizeof line, file.get()) != nullptr) {
        if (std::sscanf(line, "VmRSS: %lu kB", &kib) == 1) return static_cast<double>(kib) * 1024;
    }
    throw std::runtime_error("the server has ended");
}

struct bytes_a_connection {
    double heap;
    double resident;
    std::string pieces;
};

/// The allocations that each connection has, the largest first: "416 + 144 + 32".
std::string pieces_between(const std::vector<std::int64_t>& before,
                           const std::vector<std::int64_t>& after) {
    std::string text;
    for (std::size_t units = after.size(); units-- > 0;) {
        const auto each =
            std::lround(static_cast<double>(after[units] - before[units]) / connections);
        for (long i = 0; i < each; ++i) {
            text += (text.empty() ? "" : " + ") + std::to_string(units * piece_unit);
        }
    }
    return text.empty() ? "none" : text;
}

/// Every connection has served one request before it idles: what is kept after that counts. As many
/// are there already, so that what a loop has once, such as buffers for a burst, does not.
bytes_a_connection measure_one(const subject& what, int core) {
    heap_counter heap;
    server s(what, core, heap.preload());
    burst_load there(s.port(), {connections, 64, 1});
    there.check();
    const auto heap_before = static_cast<double>(heap.live_bytes());
    const std::vector<std::int64_t> pieces_before = heap.live_pieces();
    const double resident_before = resident_bytes(s.pid());
    burst_load load(s.port(), {connections, 64, 1});
    load.check();
    return {(static_cast<double>(heap.live_bytes()) - heap_before) / connections,
            (resident_bytes(s.pid()) - resident_before) / connections,
            pieces_between(pieces_before, heap.live_pieces())};
}

}  // namespace

void measure_memory(context& c) {
    const int core = choose_cores().server;
    pin(0, core);
    const std::vector<subject> subjects = subjects_of("memory", c.chosen);
    const std::vector<std::string> names = names_of(subjects);
    rounds heap(names, 1);
    rounds resident(names, 1);
    std::vector<std::string> pieces(subjects.size());
    c.begin_part("memory", 1);
    c.out.phase("memory of idle connections");
    // As with the counts of echo: eddy's are the last that lack.
    for (std::size_t i = subjects.size(); i-- > 0;) {
        c.out.step(names[i]);
        try {
            c.time.need_some();
            const bytes_a_connection b = measure_one(subjects[i], core);
            heap.set(i, 0, b.heap);
            resident.set(i, 0, b.resident);
            pieces[i] = b.pieces;
        } catch (const std::runtime_error& e) {
            heap.fail(i, e.what());
            resident.fail(i, e.what());
        }
    }
    heap.print(c.out, "memory", case_name, "heap_bytes_per_connection");
    resident.print(c.out, "memory", case_name, "resident_bytes_per_connection");
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        if (!pieces[i].empty()) c.out.note({"memory", case_name, "pieces", names[i]}, pieces[i]);
    }
    c.out.complete();
}

}  // namespace bench
