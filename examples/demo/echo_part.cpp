// SPDX-License-Identifier: Apache-2.0

// Measures a TCP echo server on one engine.
#include "demo/echo_part.hpp"

#include "demo/allocations.hpp"
#include "demo/client.hpp"
#include "demo/progress.hpp"
#include "support/echo_server.hpp"

#include <future>
#include <optional>
#include <thread>

namespace demo {

namespace {

/// The expenses of the server so far.
struct expenses {
    std::uint64_t requests = 0;
    std::uint64_t syscalls = 0;
    std::uint64_t allocations = 0;
};

/// An echo server on a thread of its own.
class server_thread {
public:
    explicit server_thread(eddy::engine_kind engine) : loop_({.engine = engine, .name = "server"}) {
        eddy::unique_fd listener = example::listen_on(0);
        port_ = example::port_of(listener.get());
        server_.emplace(loop_, std::move(listener));
        thread_ = std::thread([this] { loop_.run(eddy::run_mode::drained); });
    }
    ~server_thread() {
        loop_.stop();
        thread_.join();
    }

    int port() const noexcept { return port_; }

    expenses ask() {
        std::promise<expenses> answer;
        loop_.post([&] {
            answer.set_value({server_->requests(), loop_.counters().syscalls, allocations()});
        });
        return answer.get_future().get();
    }

private:
    eddy::loop loop_;
    int port_ = 0;
    std::optional<example::echo_server> server_;
    std::thread thread_;
};

std::string describe(const std::string& engine, const client& load) {
    return "  " + engine + ": " + std::to_string(load.connected()) + " connections, " +
           std::to_string(load.replies()) + " replies";
}

}  // namespace

echo_figures measure_echo(eddy::engine_kind engine, std::size_t connections,
                          std::chrono::duration<double> time) {
    echo_figures figures;
    figures.engine = eddy::to_string(engine);
    progress_line line;
    try {
        server_thread server(engine);
        client load(server.port(), connections);
        load.connect([&] { line.show(describe(figures.engine, load)); });
        load.run(time / 5, [] {});  // until caches and buffers are warm
        load.forget();

        const expenses before = server.ask();
        load.run(time, [&] { line.show(describe(figures.engine, load)); });
        const expenses after = server.ask();

        const auto requests = static_cast<double>(after.requests - before.requests);
        figures.requests_per_s = static_cast<double>(load.replies()) / load.seconds();
        figures.p50_us = load.latency_us(0.50);
        figures.p99_us = load.latency_us(0.99);
        figures.syscalls_per_request =
            static_cast<double>(after.syscalls - before.syscalls) / requests;
        figures.allocations_per_request =
            static_cast<double>(after.allocations - before.allocations) / requests;
        line.end(describe(figures.engine, load));
    } catch (const std::system_error& e) {
        figures.note = e.code().message();
        line.end("  " + figures.engine + ": " + e.what());
    }
    return figures;
}

}  // namespace demo
