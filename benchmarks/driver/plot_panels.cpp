// SPDX-License-Identifier: Apache-2.0
#include "driver/plot_panels.hpp"

#include "driver/echo_cases.hpp"

namespace bench {

namespace {

struct wanted_panel {
    std::string title;
    std::string case_name;
    std::string metric;
    bool more_is_better = false;
};

struct wanted_section {
    std::string title;
    std::string suite;
    std::vector<wanted_panel> panels;
};

wanted_section echo_section(const load_shape& message) {
    wanted_section s{"Echo, " + message_title(message) + ": server CPU a request", "echo", {}};
    for (unsigned n : echo_connections) {
        const load_shape shape{n, message.bytes, message.pipeline};
        s.panels.push_back({connections_title(n), shape.name(), "server_cpu_ns_per_request"});
    }
    return s;
}

std::vector<wanted_section> wanted_sections() {
    std::vector<wanted_section> all;
    for (const load_shape& message : echo_messages()) all.push_back(echo_section(message));
    all.push_back({"Echo, 64 B, 50 connections: counts a request",
                   "echo",
                   {{"syscalls", "50x64Bx1", "syscalls_per_request"},
                    {"user-space instructions", "50x64Bx1", "user_instructions_per_request"}}});
    all.push_back({"Posting: time a post, and until it runs",
                   "post",
                   {{"1 producer", "1_producer", "mposts_per_s", true},
                    {"2 producers", "2_producers", "mposts_per_s", true},
                    {"to oneself", "self", "self_ns_per_post"},
                    {"waking a sleeping loop, p50", "wake", "wake_p50_ns"},
                    {"waking a sleeping loop, p99", "wake", "wake_p99_ns"}}});
    all.push_back({"Timers",
                   "timer",
                   {{"set, 1 million", "1M", "set_ns"},
                    {"cancel, 1 million", "1M", "cancel_ns"},
                    {"push back, 100,000", "100k", "push_back_ns"}}});
    all.push_back({"Watching pipes",
                   "churn",
                   {{"100 pipes, 1 active", "100_pipes_1_active", "ns_per_event"},
                    {"1,000 pipes, 100 active", "1000_pipes_100_active", "ns_per_event"},
                    {"remove and add a watcher", "reregister", "ns_per_reregistration"}}});
    all.push_back({"Pollsets: CPU an event",
                   "pollset",
                   {{"1 thread, 1 event a turn", "1_event", "cpu_ns_per_event"},
                    {"1 thread, 8 events a turn", "8_events", "cpu_ns_per_event"},
                    {"4 threads, 1 pollset, 16 fds", "4x1x16", "cpu_ns_per_event"},
                    {"4 threads, 4 pollsets, 16 fds", "4x4x16", "cpu_ns_per_event"}}});
    all.push_back({"Children, one after the other",
                   "spawn",
                   {{"spawned, ended and reaped", "1_MiB", "us_per_child"},
                    {"by a parent of 500 MiB", "500_MiB", "us_per_child"}}});
    all.push_back({"Signals", "signal", {{"round trip", "round_trip", "ns_per_signal"}}});
    all.push_back({"Memory",
                   "memory",
                   {{"heap of an idle connection", "2000_idle", "heap_bytes_per_connection"}}});
    all.push_back(
        {"Coroutines", "await", {{"a co_await of what is ready", "ready", "ns_per_await"}}});
    all.push_back({"Compiling an echo server",
                   "compile",
                   {{"time", "echo", "wall_s"},
                    {"CPU time", "echo", "cpu_s"},
                    {"memory of the compiler", "echo", "peak_mib"}}});
    return all;
}

summary inverse(const summary& s) { return {1 / s.median, 1 / s.q3, 1 / s.q1}; }

plot_panel fill(const results& all, const std::string& suite, const wanted_panel& wanted) {
    plot_panel p{wanted.title, {}};
    for (const measurement& m : all.all()) {
        if (m.suite == suite && m.case_name == wanted.case_name && m.metric == wanted.metric) {
            p.bars.push_back({m.subject, wanted.more_is_better ? inverse(m.ratio) : m.ratio});
        }
    }
    return p;
}

}  // namespace

std::vector<plot_section> plot_sections(const results& all) {
    std::vector<plot_section> sections;
    for (const wanted_section& wanted : wanted_sections()) {
        plot_section s{wanted.title, {}};
        for (const wanted_panel& w : wanted.panels) {
            plot_panel p = fill(all, wanted.suite, w);
            if (!p.bars.empty()) s.panels.push_back(std::move(p));
        }
        if (!s.panels.empty()) sections.push_back(std::move(s));
    }
    return sections;
}

}  // namespace bench
