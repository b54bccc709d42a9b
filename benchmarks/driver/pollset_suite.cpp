// SPDX-License-Identifier: Apache-2.0
#include "driver/pollset_suite.hpp"

#include <array>

namespace bench {

namespace {

struct shape {
    unsigned threads;
    unsigned sets;
    unsigned fds;

    std::string name() const {
        return std::to_string(threads) + "x" + std::to_string(sets) + "x" + std::to_string(fds);
    }
    std::string title() const {
        return "pollsets, " + std::to_string(threads) +
               (threads == 1 ? " thread, " : " threads, ") + std::to_string(sets) +
               (sets == 1 ? " pollset, " : " pollsets, ") + std::to_string(fds) +
               " fds: thousand events a second (more is better), calls an "
               "event";
    }
    std::vector<std::string> arguments(const std::string& events) const {
        return {"matrix", std::to_string(threads), std::to_string(sets), std::to_string(fds),
                events};
    }
};

constexpr std::array<shape, 6> matrix{
    {{1, 1, 16}, {2, 1, 16}, {4, 1, 16}, {2, 2, 16}, {4, 4, 16}, {4, 1, 256}}};

std::vector<table_column> calls(const std::string& case_name) {
    return {{"", case_name, "called_per_event", "called", false},
            {"", case_name, "waits_per_event", "waits", false},
            {"", case_name, "eventfd_per_event", "eventfd", false},
            {"", case_name, "switches_per_event", "switches", false}};
}

std::vector<table_column> latencies(const std::string& title, const std::string& case_name) {
    return {{title, case_name, "p50_us", "p50 us", false},
            {"", case_name, "p99_us", "p99 us", false},
            {"", case_name, "p999_us", "p99.9 us", false}};
}

void append(std::vector<table_column>& to, const std::vector<table_column>& more) {
    to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

program_suite pollset_suite() {
    const std::vector<std::string> cpu{"cpu_ns_per_event"};
    const std::vector<std::string> latency{"p50_us", "p99_us", "p999_us"};
    const std::vector<std::string> all{"events_per_ms",
                                       "cpu_ns_per_event",
                                       "called_per_event",
                                       "waits_per_event",
                                       "eventfd_per_event",
                                       "switches_per_event",
                                       "p50_us",
                                       "p99_us",
                                       "p999_us"};
    program_suite s{
        .name = "pollset",
        .questions =
            {{"1_event", {"single", "16", "1", "200000"}, {"single", "16", "1", "10000"}, cpu},
             {"8_events", {"single", "16", "8", "400000"}, {"single", "16", "8", "20000"}, cpu}},
        .tables = {{"pollsets, one thread: CPU time an event",
                    {{"1 event a turn", "1_event", "cpu_ns_per_event", "ns"},
                     {"8 events a turn", "8_events", "cpu_ns_per_event", "ns"}}}},
        .rounds = 5,
        .quick_rounds = 1,
    };
    for (const shape& m : matrix) {
        s.questions.push_back({m.name(), m.arguments("200000"), m.arguments("5000"), all});
        table_group table{m.title(),
                          {{"events", m.name(), "events_per_ms", "k/s"},
                           {"CPU", m.name(), "cpu_ns_per_event", "ns"}}};
        append(table.columns, latencies("until handled", m.name()));
        append(table.columns, calls(m.name()));
        s.tables.push_back(std::move(table));
    }
    table_group blocked{"pollsets: the others, while one handler sleeps 10 ms", {}};
    for (const std::string threads : {"2", "4"}) {
        const std::string name = "blocked_" + threads;
        s.questions.push_back(
            {name, {"blocked", threads, "16", "800"}, {"blocked", threads, "16", "60"}, latency});
        append(blocked.columns, latencies(threads + " threads", name));
    }
    s.tables.push_back(std::move(blocked));
    for (const std::string threads : {"2", "8"}) {
        const std::string name = "herd_" + threads;
        s.questions.push_back(
            {name, {"herd", threads, "16", "2000"}, {"herd", threads, "16", "100"}, all});
        table_group herd{"pollsets: " + threads + " threads wait, one event comes",
                         latencies("until handled", name)};
        append(herd.columns, calls(name));
        s.tables.push_back(std::move(herd));
    }
    return s;
}

}  // namespace bench
