// SPDX-License-Identifier: Apache-2.0
#include "driver/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "common/clock.hpp"
#include "common/die.hpp"

namespace bench {

namespace {

/// The signal handler reads it, so it is no container: 0 marks a free place.
std::array<std::atomic<pid_t>, 128> living{};

int remember(pid_t pid) {
    for (std::size_t i = 0; i < living.size(); ++i) {
        pid_t none = 0;
        if (living[i].compare_exchange_strong(none, pid)) return static_cast<int>(i);
    }
    throw std::runtime_error("too many children");
}

void on_signal(int number) {
    for (auto& pid : living) {
        if (pid.load() > 0) ::kill(pid.load(), SIGKILL);
    }
    for (auto& pid : living) {
        if (pid.load() > 0) ::waitpid(pid.load(), nullptr, 0);
    }
    static constexpr char message[] = "\neddy_bench: interrupted\n";
    [[maybe_unused]] const auto n = ::write(STDERR_FILENO, message, sizeof message - 1);
    ::_exit(128 + number);
}

std::pair<unique_fd, unique_fd> make_pipe() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    return {unique_fd(fds[0]), unique_fd(fds[1])};
}

[[noreturn]] void become(const command& what, pid_t parent, int out, int err) {
    // A driver that is killed outright takes its children along.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    const int null = ::open("/dev/null", O_RDONLY);
    if (null >= 0) ::dup2(null, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    if (what.inherited_fd >= 0) ::fcntl(what.inherited_fd, F_SETFD, 0);
    if (what.core >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(what.core, &set);
        ::sched_setaffinity(0, sizeof set, &set);
    }
    for (const auto& [name, value] : what.environment) ::setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> argv{const_cast<char*>(what.program.c_str())};
    for (const std::string& a : what.arguments) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    ::execv(what.program.c_str(), argv.data());
    std::fprintf(stderr, "cannot start: %s\n", std::strerror(errno));
    ::_exit(exit_unavailable);
}

std::string last_line(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.substr(text.rfind('\n') + 1);
}

std::string drain(int fd) {
    std::string text;
    char part[4096];
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
    for (ssize_t n; text.size() < 64 * 1024 && (n = ::read(fd, part, sizeof part)) > 0;) {
        text.append(part, static_cast<std::size_t>(n));
    }
    return text;
}

}  // namespace

child::child(const command& what) {
    auto [out, out_end] = make_pipe();
    auto [err, err_end] = make_pipe();
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
    if (pid_ == 0) become(what, parent, out_end.get(), err_end.get());
    slot_ = remember(pid_);
    out_ = std::move(out);
    err_ = std::move(err);
}

child::child(child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      slot_(std::exchange(other.slot_, -1)),
      status_(other.status_),
      out_(std::move(other.out_)),
      err_(std::move(other.err_)),
      read_(std::move(other.read_)) {}

child::~child() { kill_and_reap(); }

void child::kill_and_reap() noexcept {
    if (slot_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status_, 0);
    living[static_cast<std::size_t>(slot_)] = 0;
    slot_ = -1;
}

/// Reads a part of what it printed. False: end of output, or no time left.
bool child::fill(std::int64_t until) {
    const std::int64_t left_ms = (until - now_ns()) / 1'000'000;
    pollfd p{.fd = out_.get(), .events = POLLIN, .revents = 0};
    if (left_ms <= 0 || ::poll(&p, 1, static_cast<int>(left_ms)) <= 0) return false;
    char part[4096];
    const ssize_t n = ::read(out_.get(), part, sizeof part);
    if (n <= 0) return false;
    read_.append(part, static_cast<std::size_t>(n));
    return true;
}

std::string child::read_line(std::int64_t wait_max_ns) {
    const std::int64_t until = now_ns() + wait_max_ns;
    std::size_t end = 0;
    while ((end = read_.find('\n')) == std::string::npos) {
        if (!fill(until)) throw std::runtime_error(reason_of_end());
    }
    std::string line = read_.substr(0, end);
    read_.erase(0, end + 1);
    return line;
}

std::string child::read_all(std::int64_t wait_max_ns) {
    const std::int64_t until = now_ns() + wait_max_ns;
    while (fill(until)) {}
    if (reap(until) != 0) throw std::runtime_error(reason_of_end());
    return std::exchange(read_, {});
}

/// The exit status once it has ended; -1: it did not end well, or in time.
int child::reap(std::int64_t until) {
    if (slot_ < 0) return -1;
    while (::waitpid(pid_, &status_, WNOHANG) == 0) {
        if (now_ns() >= until) return -1;
        ::usleep(1'000);
    }
    living[static_cast<std::size_t>(slot_)] = 0;
    slot_ = -1;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
}

std::string child::reason_of_end() {
    constexpr std::int64_t grace_ns = 100'000'000;  // its output ends a little before the process
    if (slot_ >= 0) reap(now_ns() + grace_ns);
    if (slot_ >= 0) {
        kill_and_reap();
        return "no answer within the time limit";
    }
    const std::string said = last_line(drain(err_.get()));
    if (!said.empty()) return said;
    if (WIFSIGNALED(status_)) return std::string("ended by ") + ::strsignal(WTERMSIG(status_));
    return "ended with status " + std::to_string(WEXITSTATUS(status_));
}

void end_children_on_signals() {
    struct sigaction action{};
    action.sa_handler = on_signal;
    sigfillset(&action.sa_mask);
    for (int s : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(s, &action, nullptr);
}

}  // namespace bench
