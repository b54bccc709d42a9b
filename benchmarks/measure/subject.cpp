// SPDX-License-Identifier: Apache-2.0

// Lists the subjects of each suite.
#include "measure/subject.hpp"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <utility>

namespace bench {

namespace {

/// The first is the reference.
std::vector<std::string_view> raw_programs(std::string_view suite) {
    if (suite == "share") return {};
    if (suite == "post") return {"raw_queue", "raw_queue_48"};
    if (suite == "timer") {
        return {"raw_heap", "raw_heap_32", "raw_heap_64", "raw_heap_128", "raw_heap_asking"};
    }
    if (suite == "churn" || suite == "pollset" || suite == "compile") return {"raw_epoll"};
    if (suite == "spawn") return {"raw_posix_spawn"};
    if (suite == "signal") return {"raw_signalfd"};
    if (suite == "await") return {"raw_resume"};
    return {"raw_epoll", "raw_epoll_et", "raw_coro", "raw_uring"};
}

std::vector<std::string_view> peer_programs(std::string_view suite) {
    if (suite == "await") return {"asio", "stdexec"};
    if (suite == "spawn") return {"libuv"};
    if (suite == "share" || suite == "pollset") return {};
    if (suite == "echo" || suite == "compile") {
        return {"libuv", "libevent", "libev", "asio", "asio_coro"};
    }
    return {"libuv", "libevent", "libev", "asio"};
}

bool runs_a_loop(std::string_view suite) { return suite != "await" && suite != "compile"; }

/// Besides `eddy` itself.
std::vector<std::string_view> eddy_programs(std::string_view suite) {
    if (suite == "echo") return {"eddy_wait"};
    if (suite == "post") return {"eddy_callable"};
    if (suite == "timer") return {"eddy_any_thread"};
    if (suite == "compile") {
        return {"eddy_coro",
                "eddy_sender",
                "eddy_example_headers",
                "eddy_example_coroutine",
                "eddy_example_sender",
                "eddy_stdexec_coroutine",
                "eddy_stdexec_sender"};
    }
    return {};
}

/// A program on the engines that are worth it, with loops that spin for so long.
std::vector<subject> spinning_eddy(const std::string& style, const std::string& program,
                                   const char* spin_us) {
    std::vector<subject> all;
    for (const std::string engine : {"epoll", "uring"}) {
        all.push_back({"eddy_" + style + "spin_" + engine,
                       program,
                       {{"EDDY_ENGINE", engine == "uring" ? "io_uring" : engine},
                        {"BENCH_SPIN_US", spin_us}}});
    }
    return all;
}

std::vector<subject> loop_subjects(std::string_view suite, const std::string& prefix) {
    std::vector<subject> all;
    auto add = [&](std::string name, std::string_view program) {
        all.push_back({std::move(name), prefix + std::string(program), {}});
    };
    const auto raw = raw_programs(suite);
    if (!raw.empty()) {
        add(std::string(raw[0]), raw[0]);
        add(std::string(raw[0]) + "_again", raw[0]);
    }
    for (std::size_t i = 1; i < raw.size(); ++i) add(std::string(raw[i]), raw[i]);
    if (suite == "echo") {
        add("raw_single_uring", "raw_uring");
        all.back().environment.emplace_back("BENCH_RECEIVES", "single");
    }
    for (std::string_view p : peer_programs(suite)) add(std::string(p), p);
    auto add_on_engine = [&](const std::string& name, std::string_view program,
                             const char* engine) {
        add(name, program);
        all.back().environment.emplace_back("EDDY_ENGINE", engine);
    };
    auto add_on_each_engine = [&](const std::string& program) {
        add_on_engine(program + "_epoll", program, "epoll");
        add_on_engine(program + "_uring", program, "io_uring");
        add_on_engine(program + "_poll", program, "poll");
    };
    auto add_with_strategy = [&](const std::string& name, const char* strategy) {
        add(name, "eddy");
        all.back().environment.emplace_back("EDDY_POLL_STRATEGY", strategy);
    };
    if (suite == "pollset") {
        add_with_strategy("eddy_domain", "domain");
        add_with_strategy("eddy_own_domains", "domain");
        all.back().environment.emplace_back("BENCH_OWN_DOMAINS", "1");
        for (const char* s : {"epoll1", "epollex", "poll"}) {
            add_with_strategy(std::string("eddy_") + s, s);
        }
    } else if (runs_a_loop(suite)) {
        add_on_each_engine("eddy");
    } else {
        add("eddy", "eddy");
    }
    if (suite == "churn") add_on_each_engine("eddy_watch");
    for (std::string_view p : eddy_programs(suite)) add(std::string(p), p);
    if (suite == "post") {
        for (subject& s : spinning_eddy("", prefix + "eddy", "1000")) all.push_back(std::move(s));
    }
    if (suite == "echo") {
        auto add_that_receives = [&](const std::string& name, const char* program,
                                     const char* how) {
            for (const std::string engine : {"epoll", "uring"}) {
                add_on_engine(name + engine, program, engine == "uring" ? "io_uring" : "epoll");
                all.back().environment.emplace_back("BENCH_RECEIVES", how);
            }
        };
        add_that_receives("eddy_single_", "eddy", "single");
        add_that_receives("eddy_coro_ahead_", "eddy_coro", "ahead");
        for (const std::string style : {"eddy_coro", "eddy_sender"}) {
            add_on_engine(style + "_epoll", style, "epoll");
            add_on_engine(style + "_uring", style, "io_uring");
        }
    }
    return all;
}

/// Echo servers that block, and those that spin for a while before they do. A bare loop that spins
/// shows the limit.
std::vector<subject> spin_subjects(const std::string& prefix) {
    std::vector<subject> all{{"raw_epoll", prefix + "raw_epoll", {}},
                             {"raw_epoll_again", prefix + "raw_epoll", {}}};
    for (std::string_view p : peer_programs("echo")) {
        all.push_back({std::string(p), prefix + std::string(p), {}});
    }
    all.push_back({"eddy_epoll", prefix + "eddy", {{"EDDY_ENGINE", "epoll"}}});
    all.push_back({"eddy_uring", prefix + "eddy", {{"EDDY_ENGINE", "io_uring"}}});
    constexpr const char* spin_us = "100";
    all.push_back({"raw_epoll_spin", prefix + "raw_epoll", {{"BENCH_SPIN_US", spin_us}}});
    for (const std::string style : {"", "coro_"}) {
        const std::string program = prefix + (style.empty() ? "eddy" : "eddy_coro");
        for (subject& s : spinning_eddy(style, program, spin_us)) all.push_back(std::move(s));
    }
    return all;
}

/// One program over the polling engines of gRPC.
std::vector<subject> grpc_subjects(const std::string& program) {
    const auto over = [&](const char* name, const char* engine, const char* strategy = "") {
        return subject{
            name, program, {{"GRPC_POLL_STRATEGY", engine}, {"EDDY_POLL_STRATEGY", strategy}}};
    };
    return {over("epoll1", "epoll1"),
            over("epoll1_again", "epoll1"),
            over("poll", "poll"),
            over("eddy_domain", "eddy", "domain"),
            over("eddy_epoll1", "eddy", "epoll1"),
            over("eddy_epollex", "eddy", "epollex"),
            over("eddy_poll", "eddy", "poll")};
}

/// True for subjects that the short form leaves out: the slowest, and those that differ little from
/// another row.
bool only_in_full(std::string_view suite, const std::string& name) {
    if (suite == "compile") {
        return name == "asio_coro" || name == "eddy" || name.ends_with("_sender") ||
               name.starts_with("eddy_stdexec");
    }
    if (name == "raw_coro") return true;
    return suite != "share" && name.ends_with("_poll") && suite != "pollset" && suite != "grpc";
}

/// Adds the programs of another build, with its library.
void add_before(std::vector<subject>& all, const std::string& build) {
    for (std::size_t i = 0, count = all.size(); i != count; ++i) {
        if (!all[i].name.starts_with("eddy")) continue;
        subject s = all[i];
        s.name += "_before";
        s.program = build + "/bench" + s.program.substr(s.program.rfind('/'));
        s.environment.emplace_back("LD_LIBRARY_PATH", build);
        all.push_back(std::move(s));
    }
}

}  // namespace

std::string program_folder() {
    char path[PATH_MAX];
    const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
    const std::string self(path, n > 0 ? static_cast<std::size_t>(n) : 0);
    return self.substr(0, self.rfind('/') + 1);
}

std::string subject::missing() const {
    return ::access(program.c_str(), X_OK) == 0 ? "" : "not built: its library was not found";
}

command subject::run(std::vector<std::string> arguments) const {
    command c;
    c.program = program;
    c.arguments = std::move(arguments);
    c.environment = environment;
    return c;
}

std::vector<subject> subjects_of(std::string_view suite, const options& chosen) {
    if (suite == "memory" || suite == "growth") suite = "echo";  // the same servers
    const std::string prefix = program_folder() + std::string(suite) + "_";
    std::vector<subject> all = suite == "grpc"   ? grpc_subjects(prefix + "calls")
                               : suite == "spin" ? spin_subjects(program_folder() + "echo_")
                                                 : loop_subjects(suite, prefix);
    const bool has_reference = all.size() > 1 && all[1].name == all[0].name + "_again";
    const auto optional = all.begin() + (has_reference ? 2 : 0);
    all.erase(std::remove_if(optional, all.end(),
                             [&](const subject& s) {
                                 const bool skip = chosen.quick && chosen.subjects.empty() &&
                                                   only_in_full(suite, s.name);
                                 return skip || !chosen.wants_subject(s.name);
                             }),
              all.end());
    if (!chosen.before.empty()) add_before(all, chosen.before);
    return all;
}

std::vector<std::string> names_of(const std::vector<subject>& subjects) {
    std::vector<std::string> names;
    for (const subject& s : subjects) names.push_back(s.name);
    return names;
}

}  // namespace bench
