// SPDX-License-Identifier: Apache-2.0
// Calls of gRPC over loopback, server and client in processes of their own. GRPC_POLL_STRATEGY
// chooses the polling engine of both.

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <eddy/adapters/grpc.hpp>

#include "async_echo.hpp"
#include "common/clock.hpp"
#include "common/program.hpp"
#include "common/stats.hpp"
#include "grpc/server_process.hpp"
#include "raw_echo.hpp"

namespace {

using namespace raw_echo;

std::string address_of(const bench::server_process& server) {
    return "127.0.0.1:" + std::to_string(server.port());
}

void must_be_ok(const grpc::Status& status) {
    if (!status.ok()) {
        std::fprintf(stderr, "a call failed: %s\n", status.error_message().c_str());
        std::exit(1);
    }
}

/// Times calls from the end of the warm-up on.
class stopwatch {
public:
    explicit stopwatch(const bench::server_process& server) : server_(server) {}

    void start() {
        begin_cpu_ns_ = cpu_ns();
        begin_ns_ = bench::now_ns();
    }

    void print(std::vector<double> latencies_ns) const {
        const auto calls = static_cast<double>(latencies_ns.size());
        const auto wall_ns = static_cast<double>(bench::now_ns() - begin_ns_);
        std::sort(latencies_ns.begin(), latencies_ns.end());
        bench::print_metric("calls_per_s", calls / wall_ns * 1e9);
        bench::print_metric("p50_us", bench::quantile(latencies_ns, .5) / 1e3);
        bench::print_metric("p99_us", bench::quantile(latencies_ns, .99) / 1e3);
        bench::print_metric("cpu_us_per_call",
                            static_cast<double>(cpu_ns() - begin_cpu_ns_) / calls / 1e3);
    }

private:
    std::int64_t cpu_ns() const { return bench::own_cpu_ns() + server_.cpu_ns(); }

    const bench::server_process& server_;
    std::int64_t begin_ns_ = 0;
    std::int64_t begin_cpu_ns_ = 0;
};

/// One thread keeps that many calls in flight, over some connections; so does the server answer.
class async_calls {
public:
    async_calls(const bench::server_process& server, unsigned channels) : watch_(server) {
        for (unsigned i = 0; i < channels; ++i) stubs_.emplace_back(connect(address_of(server)));
    }

    void measure(unsigned in_flight, unsigned calls) {
        run(in_flight, calls / 10);
        watch_.start();
        watch_.print(run(in_flight, calls));
    }

private:
    struct timed_call : async_call {
        using async_call::async_call;
        std::int64_t begin_ns = bench::now_ns();
    };

    std::vector<double> run(unsigned in_flight, unsigned calls) {
        std::vector<double> latencies_ns;
        latencies_ns.reserve(calls);
        unsigned started = 0;
        const auto start = [&] {
            new timed_call(stubs_[started++ % stubs_.size()], queue_, message_);
        };
        while (started < std::min(in_flight, calls)) start();
        void* tag = nullptr;
        for (bool ok = false; latencies_ns.size() < calls && queue_.Next(&tag, &ok);) {
            const std::unique_ptr<timed_call> c(static_cast<timed_call*>(tag));
            latencies_ns.push_back(static_cast<double>(bench::now_ns() - c->begin_ns));
            must_be_ok(c->status);
            if (started < calls) start();
        }
        return latencies_ns;
    }

    stopwatch watch_;
    std::vector<grpc::GenericStub> stubs_;
    grpc::CompletionQueue queue_;
    bytes message_ = to_bytes(std::string(64, 'x'));
};

/// Threads that wait for each of their calls, each with a connection of its own.
void measure_sync(const bench::server_process& server, unsigned threads, unsigned calls) {
    std::vector<std::shared_ptr<grpc::Channel>> channels;
    for (unsigned t = 0; t < threads; ++t) channels.push_back(connect(address_of(server)));
    const bytes message = to_bytes(std::string(64, 'x'));
    std::vector<std::vector<double>> latencies_ns(threads);
    const auto run = [&](unsigned each) {
        std::vector<std::jthread> running;
        for (unsigned t = 0; t < threads; ++t) {
            running.emplace_back([&, t] {
                latencies_ns[t].clear();
                for (unsigned i = 0; i < each; ++i) {
                    const std::int64_t begin = bench::now_ns();
                    grpc::ClientContext context;
                    bytes out;
                    must_be_ok(call(*channels[t], unary_name, context, message, out));
                    latencies_ns[t].push_back(static_cast<double>(bench::now_ns() - begin));
                }
            });
        }
    };
    stopwatch watch(server);
    run(calls / threads / 10);
    watch.start();
    run(calls / threads);
    for (unsigned t = 1; t < threads; ++t) {
        latencies_ns[0].insert(latencies_ns[0].end(), latencies_ns[t].begin(),
                               latencies_ns[t].end());
    }
    watch.print(std::move(latencies_ns[0]));
}

/// One message to and fro on a stream.
void measure_stream(const bench::server_process& server, unsigned messages) {
    const auto channel = connect(address_of(server));
    grpc::ClientContext context;
    const auto stream = open_stream(*channel, context);
    const bytes message = to_bytes(std::string(64, 'x'));
    std::vector<double> latencies_ns;
    const auto run = [&](unsigned count) {
        latencies_ns.clear();
        bytes back;
        for (unsigned i = 0; i < count; ++i) {
            const std::int64_t begin = bench::now_ns();
            if (!stream->Write(message) || !stream->Read(&back)) must_be_ok(stream->Finish());
            latencies_ns.push_back(static_cast<double>(bench::now_ns() - begin));
        }
    };
    stopwatch watch(server);
    run(messages / 10);
    watch.start();
    run(messages);
    watch.print(std::move(latencies_ns));
    stream->WritesDone();
    must_be_ok(stream->Finish());
}

std::unique_ptr<async_server> serve_async() {
    return std::make_unique<async_server>("127.0.0.1:0", 2, 1);
}

}  // namespace

int main(int argc, char** argv) {
    eddy::register_grpc_engine();
    const bench::arguments a(argc, argv);
    if (a.question() == "async") {
        const bench::server_process server(serve_async);
        async_calls(server, a.number(0)).measure(a.number(1), a.number(2));
    } else if (a.question() == "sync") {
        const bench::server_process server([] { return std::make_unique<sync_server>(); });
        measure_sync(server, a.number(0), a.number(1));
    } else if (a.question() == "stream") {
        // Left to the scheduler, where the two run decides more than how they wait.
        const int server_core = a.number(0) > 1 ? 1 : 0;
        const bench::server_process server([server_core] {
            bench::pin_to_core(server_core);
            return serve_async();
        });
        bench::pin_to_core(0);
        measure_stream(server, a.number(1));
    } else {
        a.wrong();
    }
    return 0;
}
