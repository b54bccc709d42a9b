// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/call.hpp"
#include "kernel/process.hpp"
#include "support/engine_fixture.hpp"
#include "support/in_child.hpp"

#include <eddy/os/process_handle.hpp>

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace eddy::test {

/// Whether this process has children, also such that have ended and were not reaped.
inline bool has_children() {
    siginfo_t info{};
    return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

/// Whether the kernel keeps how a process has ended when others have reaped it: Linux 6.15 on.
inline bool keeps_status() {
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(7);
    }
    unique_fd pidfd;
    kernel::process_end end;
    EXPECT_FALSE(kernel::open_pidfd(child, pidfd));
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);
    return !kernel::recall_end(pidfd.get(), end);
}

/// A wait that writes down how it completed.
class exit_recorder {
public:
    exit_recorder() : wait_(&on_exit) {}
    explicit exit_recorder(process_handle& process) : exit_recorder() { process.start(wait_); }
    ~exit_recorder() { wait_.abandon(); }

    exit_wait& wait() { return wait_; }
    int endings() const { return endings_; }
    bool ended() const { return endings_ != 0; }
    std::error_code error() const { return wait_.error(); }
    const exit_status& status() const { return wait_.status(); }

private:
    static void on_exit(exit_wait& wait) noexcept {
        ++detail::owner_of<&exit_recorder::wait_>(wait).endings_;
    }

    exit_wait wait_;
    int endings_ = 0;
};

/// Processes on each engine. It fails if a child is left over.
class ProcessTest : public EngineTest {
protected:
    void TearDown() override {
        if (has_children()) {
            all_reaped();  // of sleepers that were just killed
        }
        EngineTest::TearDown();
        EXPECT_FALSE(has_children()) << "a child is left over";
    }

    static process_options shell(std::string script) {
        return {.program = "/bin/sh", .arguments = {"-c", std::move(script)}};
    }
    /// One that lives until it is killed.
    static process_options sleeper() {
        process_options options{.program = "sleep", .arguments = {"1000"}};
        options.kill_on_destroy = true;
        return options;
    }
    process_handle spawn(const process_options& options) { return {loop(), options}; }
    /// The error, and where.
    std::pair<std::error_code, spawn_step> failure_of(const process_options& options) {
        process_handle process;
        spawn_step step = spawn_step::none;
        const auto error = process_handle::spawn(loop(), options, process, &step);
        EXPECT_FALSE(process);
        return {error, step};
    }
    exit_status end_of(process_handle& process) {
        exit_recorder wait(process);
        EXPECT_TRUE(until([&] { return wait.ended(); }));
        EXPECT_FALSE(wait.error()) << wait.error().message();
        return wait.status();
    }
    exit_status run(const process_options& options) {
        process_handle process = spawn(options);
        return end_of(process);
    }
    std::string read_to_end(const descriptor& from) {
        std::string all;
        std::string buffer(4096, '\0');
        recorder reading;
        do {
            start(reading, read(from, bytes(buffer)));
            if (!ends(reading)) {
                break;
            }
            all.append(buffer, 0, reading.count());
        } while (reading.count() != 0);
        return all;
    }
    /// What it writes to its standard output.
    std::string output_of(process_options options) {
        options.out = stdio::pipe();
        process_handle process = spawn(options);
        std::string output = read_to_end(process.stdio_pipe(1));
        EXPECT_TRUE(end_of(process).exited());
        return output;
    }
    std::string output_of(std::string script) { return output_of(shell(std::move(script))); }
    /// Nobody has waited for it: the loop reaps it all the same.
    bool all_reaped() {
        return until_driven([] { return !has_children(); });
    }
};

}  // namespace eddy::test
