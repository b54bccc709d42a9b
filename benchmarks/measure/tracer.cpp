// SPDX-License-Identifier: Apache-2.0

// Stops a process at each system call or instruction.
#include "measure/tracer.hpp"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

namespace bench {

namespace {

/// Tells the tracer that the work is done. Everybody ignores it, but a tracer sees it, also when
/// the process sleeps in the kernel; it is never delivered.
constexpr int end_mark = SIGWINCH;

/// Owns the tracing of one process; all calls must come from the thread that made it.
class tracee {
public:
    explicit tracee(pid_t pid) : pid_(pid) {
        if (::ptrace(PTRACE_SEIZE, pid_, nullptr, PTRACE_O_TRACESYSGOOD) != 0) fail("ptrace");
        if (::ptrace(PTRACE_INTERRUPT, pid_, nullptr, nullptr) != 0) fail("ptrace");
        wait();
    }
    tracee(const tracee&) = delete;
    tracee& operator=(const tracee&) = delete;
    ~tracee() { ::ptrace(PTRACE_DETACH, pid_, nullptr, nullptr); }

    /// Lets it go on to the next stop; returns the signal that stands for it.
    int resume(traced what) {
        const auto how = what == traced::syscalls ? PTRACE_SYSCALL : PTRACE_SINGLESTEP;
        if (::ptrace(how, pid_, nullptr, nullptr) != 0) fail("ptrace");
        return wait();
    }

private:
    [[noreturn]] static void fail(const char* what) {
        throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
    }

    int wait() {
        int status = 0;
        if (::waitpid(pid_, &status, __WALL) != pid_) fail("waitpid");
        if (!WIFSTOPPED(status)) throw std::runtime_error("ended while it was traced");
        return WSTOPSIG(status);
    }

    pid_t pid_;
};

/// 'S' when it sleeps in the kernel, 't' when it is stopped for its tracer.
char state_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(") ");
    return name_end == std::string::npos ? 'X' : text[name_end + 2];
}

/// The reply that the client waited for is not the last thing that a server does. Counts are exact
/// only if they begin and end while it rests.
void wait_until_asleep(pid_t pid) {
    constexpr int looks_max = 2'000;
    constexpr int looks_needed = 3;
    for (int looks = 0, asleep = 0; looks < looks_max && asleep < looks_needed; ++looks) {
        asleep = state_of(pid) == 'S' ? asleep + 1 : 0;
        ::usleep(500);
    }
}

}  // namespace

std::uint64_t count_while(pid_t pid, traced what, const std::function<void()>& work) {
    wait_until_asleep(pid);
    tracee process(pid);
    std::exception_ptr failed;
    // The work waits for the traced process, so it cannot run on the thread that traces.
    std::jthread worker([&] {
        try {
            work();
            wait_until_asleep(pid);
        } catch (...) {
            failed = std::current_exception();
        }
        ::kill(pid, end_mark);
    });
    std::uint64_t stops = 0;
    while (process.resume(what) != end_mark) ++stops;
    worker.join();
    if (failed) std::rethrow_exception(failed);
    return what == traced::syscalls ? stops / 2 : stops;  // stopped on the way in and out
}

}  // namespace bench
