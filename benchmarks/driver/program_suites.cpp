// SPDX-License-Identifier: Apache-2.0
#include "driver/program_suite.hpp"

#include <stdexcept>

#include "driver/pollset_suite.hpp"

namespace bench {

namespace {

program_suite post_suite() {
    return {
        .name = "post",
        .questions =
            {
                {"1_producer",
                 {"throughput", "1", "2000000"},
                 {"throughput", "1", "1000000"},
                 {"mposts_per_s"}},
                {"2_producers",
                 {"throughput", "2", "1000000"},
                 {"throughput", "2", "500000"},
                 {"mposts_per_s"}},
                {"wake", {"wake", "3000"}, {"wake", "800"}, {"wake_p50_ns", "wake_p99_ns"}},
                {"self", {"self", "3000000"}, {"self", "1000000"}, {"self_ns_per_post"}},
            },
        .tables =
            {
                {"posting from other threads: million posts a second (more is better)",
                 {{"1 producer", "1_producer", "mposts_per_s", "M/s"},
                  {"2 producers", "2_producers", "mposts_per_s", "M/s"}}},
                {"waking a sleeping loop, and posting to oneself",
                 {{"wake, p50", "wake", "wake_p50_ns", "ns"},
                  {"wake, p99", "wake", "wake_p99_ns", "ns"},
                  {"to oneself", "self", "self_ns_per_post", "ns"}}},
            },
    };
}

program_suite timer_suite() {
    const std::vector<std::string> late{"late_p50_us", "late_p99_us", "earliest_us"};
    return {
        .name = "timer",
        .questions =
            {
                {"1M",
                 {"set_cancel", "1000000"},
                 {"set_cancel", "1000000"},
                 {"set_ns", "cancel_ns"}},
                {"100k",
                 {"push_back", "100000", "1000000"},
                 {"push_back", "100000", "500000"},
                 {"push_back_ns"}},
                {"lateness", {"lateness", "500"}, {"lateness", "150"}, late},
                {"lateness_after_work",
                 {"lateness_after_work", "300"},
                 {"lateness_after_work", "100"},
                 late},
            },
        .tables =
            {
                {"timers: a million set and cancelled, 100,000 pushed back",
                 {{"set", "1M", "set_ns", "ns"},
                  {"cancel", "1M", "cancel_ns", "ns"},
                  {"push back", "100k", "push_back_ns", "ns"}}},
                {"timers: lateness of firing (negative: before its time)",
                 {{"set in a callback", "lateness", "late_p50_us", "p50 us", false},
                  {"", "lateness", "late_p99_us", "p99 us", false},
                  {"", "lateness", "earliest_us", "earliest", false},
                  {"after 1 ms of work", "lateness_after_work", "late_p50_us", "p50 us", false},
                  {"", "lateness_after_work", "late_p99_us", "p99 us", false},
                  {"", "lateness_after_work", "earliest_us", "earliest", false}}},
            },
    };
}

program_suite churn_suite() {
    return {
        .name = "churn",
        .questions =
            {
                {"100_pipes_1_active",
                 {"pipes", "100", "1", "100000"},
                 {"pipes", "100", "1", "40000"},
                 {"ns_per_event"}},
                {"1000_pipes_100_active",
                 {"pipes", "1000", "100", "100000"},
                 {"pipes", "1000", "100", "40000"},
                 {"ns_per_event"}},
                {"reregister",
                 {"reregister", "100", "500"},
                 {"reregister", "100", "200"},
                 {"ns_per_reregistration"}},
            },
        .tables =
            {
                {"watching pipes: an event read and passed on; removing and adding a watcher",
                 {{"100 pipes, 1 active", "100_pipes_1_active", "ns_per_event", "ns"},
                  {"1000, 100 active", "1000_pipes_100_active", "ns_per_event", "ns"},
                  {"remove and add", "reregister", "ns_per_reregistration", "ns"}}},
            },
    };
}

program_suite spawn_suite() {
    const std::vector<std::string> metrics{"us_per_child", "us_to_spawn"};
    return {
        .name = "spawn",
        .questions =
            {
                {"1_MiB", {"chain", "500", "1"}, {"chain", "100", "1"}, metrics},
                {"500_MiB", {"chain", "200", "500"}, {"chain", "20", "500"}, metrics},
            },
        .tables =
            {
                {"children, one after the other: /bin/true spawned, ended and reaped",
                 {{"parent of 1 MiB", "1_MiB", "us_per_child", "us"},
                  {"parent of 500 MiB", "500_MiB", "us_per_child", "us"},
                  {"500 MiB: the call", "500_MiB", "us_to_spawn", "us"}}},
            },
    };
}

program_suite signal_suite() {
    return {
        .name = "signal",
        .questions =
            {{"round_trip", {"round_trip", "200000"}, {"round_trip", "20000"}, {"ns_per_signal"}}},
        .tables = {{"a signal to oneself, until the loop has delivered it",
                    {{"round trip", "round_trip", "ns_per_signal", "ns"}}}},
    };
}

program_suite share_suite() {
    const std::vector<std::string> metrics{"share_percent"};
    return {
        .name = "share",
        .questions =
            {
                {"watches", {"watches", "20000"}, {"watches", "5000"}, metrics, "window"},
                {"streams", {"streams", "20000"}, {"streams", "5000"}, metrics, "window"},
                {"no_group", {"no_group", "20000"}, {"no_group", "5000"}, metrics, "window"},
            },
        .tables = {{"two endless streams on one loop, weights 3:1: what the first moved",
                    {{"watches", "watches", "share_percent", "%", false},
                     {"streams", "streams", "share_percent", "%", false},
                     {"no group", "no_group", "share_percent", "%", false}}}},
        .rounds = 3,
        .quick_rounds = 1,
    };
}

program_suite await_suite() {
    return {
        .name = "await",
        .questions = {{"ready", {"ready", "10000000"}, {"ready", "2000000"}, {"ns_per_await"}}},
        .tables = {{"a co_await of what is ready", {{"ready", "ready", "ns_per_await", "ns"}}}},
    };
}

program_suite grpc_suite() {
    const std::vector<std::string> metrics{"calls_per_s", "p50_us", "p99_us", "cpu_us_per_call"};
    const auto columns = [](const std::string& title, const std::string& name) {
        return std::vector<table_column>{{title, name, "calls_per_s", "/s"},
                                         {"", name, "p50_us", "p50 us"},
                                         {"", name, "p99_us", "p99 us"},
                                         {"", name, "cpu_us_per_call", "CPU us"}};
    };
    return {
        .name = "grpc",
        .questions =
            {
                {"1_at_a_time", {"sync", "1", "4000"}, {"sync", "1", "2000"}, metrics},
                {"16_threads", {"sync", "16", "16000"}, {"sync", "16", "8000"}, metrics},
                {"64_in_flight",
                 {"async", "4", "64", "20000"},
                 {"async", "4", "64", "10000"},
                 metrics},
                {"stream_1_core", {"stream", "1", "8000"}, {"stream", "1", "4000"}, metrics},
                {"stream_2_cores", {"stream", "2", "8000"}, {"stream", "2", "4000"}, metrics},
            },
        .tables =
            {
                {"gRPC: a call at a time, synchronous", columns("1 thread", "1_at_a_time")},
                {"gRPC: 16 threads with a connection each, synchronous",
                 columns("16 threads", "16_threads")},
                {"gRPC: 64 calls in flight over 4 connections, asynchronous",
                 columns("64 in flight", "64_in_flight")},
                {"gRPC: one message to and fro on a stream, both processes on one core",
                 columns("one core", "stream_1_core")},
                {"gRPC: one message to and fro on a stream, a core for each process",
                 columns("two cores", "stream_2_cores")},
            },
    };
}

program_suite compile_suite() {
    return {
        .name = "compile",
        .questions = {{"echo", {}, {}, {"wall_s", "cpu_s", "peak_mib"}}},
        .tables = {{"compiling an echo server, -O2: time, and memory of the compiler",
                    {{"time", "echo", "wall_s", "s"},
                     {"CPU time", "echo", "cpu_s", "s"},
                     {"memory", "echo", "peak_mib", "MiB"}}}},
        .rounds = 5,
        .quick_rounds = 1,
    };
}

}  // namespace

program_suite program_suite_named(const std::string& name) {
    for (const auto make : {post_suite, timer_suite, churn_suite, pollset_suite, spawn_suite,
                            signal_suite, share_suite, await_suite, grpc_suite, compile_suite}) {
        if (program_suite suite = make(); suite.name == name) return suite;
    }
    throw std::logic_error("there is no suite " + name);
}

}  // namespace bench
