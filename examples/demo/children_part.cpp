// SPDX-License-Identifier: Apache-2.0

// Shows child processes and signals.
#include "demo/parts.hpp"

#include "support/child.hpp"

#include <eddy/async/async.hpp>
#include <eddy/io/io.hpp>
#include <eddy/os/block_signals.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <system_error>

#include <unistd.h>

namespace demo {

namespace {

using namespace std::chrono_literals;

double microseconds_since(eddy::time_point begin) {
    return std::chrono::duration<double, std::micro>(eddy::clock::now() - begin).count();
}

eddy::task<> show_pipes(eddy::loop& loop) {
    eddy::process sort(loop,
                       {.program = "sort", .in = eddy::stdio::pipe(), .out = eddy::stdio::pipe()});
    co_await sort.stdin_pipe().write(eddy::bytes("quince\napple\npear\n"));
    co_await sort.stdin_pipe().close();
    char sorted[64];
    const std::size_t size = co_await sort.stdout_pipe().read(eddy::bytes(sorted));
    const eddy::exit_status status = co_await sort.wait();
    std::string text(sorted, size);
    for (char& c : text) {
        c = c == '\n' ? ' ' : c;
    }
    std::printf("  sort, its pipes as streams: %s(%s)\n", text.c_str(),
                example::describe(status).c_str());
}

void show_absent_program(eddy::loop& loop) {
    eddy::process_handle none;
    const std::error_code error =
        eddy::process_handle::spawn(loop, {.program = "./no-such-program"}, none);
    std::printf("  ./no-such-program: %s, as an error code\n", error.message().c_str());
}

eddy::task<> show_limit(eddy::loop& loop) {
    const eddy::time_point begin = eddy::clock::now();
    eddy::process sleep(loop, {.program = "sleep", .arguments = {"60"}});
    const auto in_time = co_await eddy::as_result(eddy::timeout(sleep.wait(), 50ms));
    co_await example::end(sleep, 1s);
    std::printf("  sleep 60, within 50 ms: %s, and over after %.1f ms\n",
                in_time.error().message().c_str(), microseconds_since(begin) / 1000);
}

eddy::task<> run_one(eddy::loop& loop, eddy::semaphore& at_once, std::size_t& good) {
    const auto permit = co_await at_once.hold();
    const eddy::process child(loop, {.program = "true"});
    const eddy::exit_status status = co_await child.wait();
    good += status.success() ? 1U : 0U;
}

eddy::task<> show_many(eddy::loop& loop, std::size_t count) {
    eddy::semaphore at_once(8);
    std::size_t good = 0;
    const eddy::time_point begin = eddy::clock::now();
    co_await eddy::with_nursery([&](eddy::nursery& children) -> eddy::task<> {
        for (std::size_t i = 0; i != count; ++i) {
            children.start(run_one(loop, at_once, good));
        }
        co_await children.join();
    });
    std::printf("  %zu children, 8 at once: %zu ended well, %.0f us each\n", count, good,
                microseconds_since(begin) / static_cast<double>(count));
}

/// Sends signals in batches, because the kernel queues only so many per user.
eddy::task<> show_signals(eddy::loop& loop, int count) {
    constexpr int batch = 100;
    eddy::block_signals({SIGRTMIN});
    eddy::signal_source signals(loop, {SIGRTMIN});
    int in_order = 0;
    const eddy::time_point begin = eddy::clock::now();
    for (int sent = 0; sent < count; sent += batch) {
        for (int i = 0; i != batch; ++i) {
            ::sigqueue(::getpid(), SIGRTMIN, {.sival_int = sent + i});
        }
        for (int i = 0; i != batch; ++i) {
            const auto got =
                co_await eddy::as_result(eddy::timeout(eddy::wait_signal(signals, SIGRTMIN), 1s));
            in_order += got && got->int_value() == sent + i ? 1 : 0;
        }
    }
    std::printf("  %d real-time signals to ourselves: %d came in order, %.1f us each\n", count,
                in_order, microseconds_since(begin) / count);
}

eddy::task<> show_all(eddy::loop& loop, std::size_t children, int signals) {
    co_await show_pipes(loop);
    show_absent_program(loop);
    co_await show_limit(loop);
    co_await show_many(loop, children);
    co_await show_signals(loop, signals);
}

}  // namespace

void show_children(std::size_t children, int signals) {
    eddy::loop loop({.name = "children"});
    loop.run(show_all(loop, children, signals));
}

}  // namespace demo
