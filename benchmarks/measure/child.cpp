// SPDX-License-Identifier: Apache-2.0

// Starts a program with eddy's process, and reads its output with a time limit.
#include "measure/child.hpp"

#include <eddy/async/task.hpp>
#include <eddy/async/timeout.hpp>
#include <eddy/base/error.hpp>
#include <eddy/io/bytes.hpp>
#include <eddy/io/read_until.hpp>
#include <eddy/io/run.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <sched.h>
#include <unistd.h>

#include "measure/cores.hpp"

namespace bench {

namespace {

/// Output ends a little before the process.
constexpr std::chrono::milliseconds grace(100);
/// A process that was killed and sleeps in the kernel for longer is left behind.
constexpr std::chrono::minutes patience(1);

eddy::time_point after(std::int64_t wait_ns) {
    return eddy::clock::now() + std::chrono::nanoseconds(wait_ns);
}

/// Lets this thread, and with it the children that it starts, run on one core only.
class pinned_thread {
public:
    explicit pinned_thread(int core) {
        ::sched_getaffinity(0, sizeof before_, &before_);
        if (core >= 0) pin(0, core);
    }
    pinned_thread(const pinned_thread&) = delete;
    pinned_thread& operator=(const pinned_thread&) = delete;
    ~pinned_thread() { ::sched_setaffinity(0, sizeof before_, &before_); }

private:
    cpu_set_t before_;
};

/// The driver's environment, with these variables set.
std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& variables) {
    std::vector<std::string> all;
    for (char** entry = ::environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
    for (const auto& [name, value] : variables) {
        std::erase_if(all, [&](const std::string& entry) { return entry.starts_with(name + "="); });
        all.push_back(name + "=" + value);
    }
    return all;
}

eddy::process start(eddy::loop& home, const command& what) {
    eddy::process_options options{.program = what.program, .arguments = what.arguments};
    options.environment = environment_with(what.environment);
    options.in = eddy::stdio::null();
    options.out = eddy::stdio::pipe();
    options.err = eddy::stdio::pipe();
    options.label = "child of the driver";
    if (what.inherited_fd >= 0) options.fds = {{what.inherited_fd, what.inherited_fd}};
    const pinned_thread pinned(what.core);
    return {home, options};
}

eddy::task<void> read_to_end(const eddy::stream& from, std::string& into) {
    std::array<char, 4096> part;
    while (const std::size_t n = co_await from.read_some(eddy::bytes(part))) {
        into.append(part.data(), n);
    }
}

std::string last_line(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.substr(text.rfind('\n') + 1);
}

}  // namespace

child::child(const command& what)
    : loop_({.engine = eddy::engine_kind::epoll, .name = "child"}), process_(start(loop_, what)) {}

child::~child() { kill(); }

std::string child::read_line(std::int64_t wait_max_ns) {
    constexpr std::size_t line_max = 65'536;
    try {
        const auto read = eddy::read_until(process_.stdout_pipe(), read_, "\n", line_max);
        const auto [length] = loop_.run(eddy::deadline(read, after(wait_max_ns))).value();
        std::string line = read_.substr(0, length - 1);
        read_.erase(0, length);
        return line;
    } catch (const std::system_error&) {
        throw std::runtime_error(reason_of_end());
    }
}

std::string child::read_all(std::int64_t wait_max_ns) {
    const eddy::time_point limit = after(wait_max_ns);
    try {
        loop_.run(eddy::deadline(read_to_end(process_.stdout_pipe(), read_), limit));
    } catch (const std::system_error&) {
        throw std::runtime_error(reason_of_end());
    }
    if (!ends_by(limit) || !end_->success()) throw std::runtime_error(reason_of_end());
    return std::exchange(read_, {});
}

bool child::ends_by(eddy::time_point limit) {
    if (end_) return true;
    try {
        end_ = std::get<0>(loop_.run(eddy::deadline(process_.wait(), limit)).value());
    } catch (const std::system_error& e) {
        // A tracer may have taken the status.
        if (e.code() != eddy::errc::timed_out) end_.emplace();
    }
    return end_.has_value();
}

void child::kill() noexcept {
    if (end_) return;
    process_.kill(SIGKILL);
    ends_by(eddy::clock::now() + patience);
}

std::string child::reason_of_end() {
    if (!ends_by(eddy::clock::now() + grace)) {
        kill();
        return "no answer within the time limit";
    }
    std::string said;
    try {
        loop_.run(eddy::timeout(read_to_end(process_.stderr_pipe(), said), grace));
    } catch (const std::system_error&) {  // a child of the child keeps the pipe open
    }
    if (said = last_line(said); !said.empty()) return said;
    if (end_->signal != 0) return std::string("ended by ") + ::strsignal(end_->signal);
    return "ended with status " + std::to_string(end_->code);
}

}  // namespace bench
