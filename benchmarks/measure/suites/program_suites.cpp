// SPDX-License-Identifier: Apache-2.0

// Lists what the programs of each suite are asked.
#include "measure/suites/program_suite.hpp"

#include <stdexcept>

#include "measure/suites/pollset_suite.hpp"

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
    };
}

program_suite signal_suite() {
    return {
        .name = "signal",
        .questions =
            {{"round_trip", {"round_trip", "200000"}, {"round_trip", "20000"}, {"ns_per_signal"}}},
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
        .rounds = 3,
        .quick_rounds = 1,
    };
}

program_suite await_suite() {
    return {
        .name = "await",
        .questions = {{"ready", {"ready", "10000000"}, {"ready", "2000000"}, {"ns_per_await"}}},
    };
}

program_suite grpc_suite() {
    const std::vector<std::string> metrics{"calls_per_s", "p50_us", "p99_us", "cpu_us_per_call"};
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
    };
}

program_suite compile_suite() {
    return {
        .name = "compile",
        .questions = {{"echo", {}, {}, {"wall_s", "cpu_s", "peak_mib"}}},
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
