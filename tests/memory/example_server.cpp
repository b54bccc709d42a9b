// SPDX-License-Identifier: Apache-2.0
#include "memory/example_server.hpp"

#include "support/patience.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <sstream>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef EDDY_TEST_EXAMPLES

namespace eddy::test {

namespace {

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::system_category(), what);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& text : texts) {
        all.push_back(text.data());
    }
    all.push_back(nullptr);
    return all;
}

}  // namespace

example_server::example_server(const options& what) {
    shared_ = unique_fd(::memfd_create("memory_faults", 0));
    if (!shared_ || ::ftruncate(shared_.get(), sizeof(memory_faults)) != 0) {
        fail("memfd_create");
    }
    void* const memory = ::mmap(nullptr, sizeof(memory_faults), PROT_READ | PROT_WRITE, MAP_SHARED,
                                shared_.get(), 0);
    if (memory == MAP_FAILED) {
        fail("mmap");
    }
    faults_ = ::new (memory) memory_faults;
    if (what.at_start) {
        what.at_start->begin(*faults_);
    }
    start(what);
    if (what.serves) {
        read_port();
    }
}

example_server::~example_server() {
    if (runs()) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    ::munmap(faults_, sizeof(memory_faults));
}

void example_server::start(const options& what) {
    std::vector<std::string> arguments{std::string(EDDY_TEST_EXAMPLES) + "/" + what.program};
    arguments.insert(arguments.end(), what.arguments.begin(), what.arguments.end());
    std::vector<std::string> environment{"EDDY_ENGINE=" + what.engine};
    if (what.limit_kib == 0) {
        environment.push_back("LD_PRELOAD=" EDDY_TEST_FAILING_MALLOC);
        environment.push_back(std::string(memory_faults_variable) + "=" +
                              std::to_string(shared_.get()));
    }
    const std::vector<char*> argv = pointers(arguments);
    const std::vector<char*> envp = pointers(environment);
    fd_pair in = make_pipe();
    fd_pair out = make_pipe();
    const unique_fd errors(::open(scratch_.path("err").c_str(),
                                  O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600));
    pid_ = ::fork();
    if (pid_ < 0) {
        fail("fork");
    }
    if (pid_ == 0) {
        ::dup2(in.first.get(), STDIN_FILENO);
        ::dup2(out.second.get(), STDOUT_FILENO);
        ::dup2(errors.get(), STDERR_FILENO);
        for (const int end : {in.first.get(), in.second.get(), out.first.get(), out.second.get()}) {
            ::close(end);
        }
        if (::chdir(what.directory.c_str()) != 0) {
            ::_exit(126);
        }
        if (what.limit_kib != 0) {
            const rlimit limit{what.limit_kib * 1024, what.limit_kib * 1024};
            ::setrlimit(RLIMIT_AS, &limit);
        }
        ::execve(argv[0], argv.data(), envp.data());
        ::_exit(127);
    }
    input_ = std::move(in.second);
    output_ = std::move(out.first);
}

void example_server::read_port() {
    std::string said;
    char piece[256];
    while (said.find("engine") == said.npos && becomes_ready(output_.get(), POLLIN)) {
        const ssize_t count = ::read(output_.get(), piece, sizeof piece);
        if (count <= 0) {
            return;  // it has ended
        }
        said.append(piece, static_cast<std::size_t>(count));
    }
    if (const auto at = said.find("port "); at != said.npos) {
        port_ = static_cast<unsigned short>(std::stoi(said.substr(at + 5)));
    }
}

bool example_server::runs() {
    if (status_ == -1 && ::waitpid(pid_, &status_, WNOHANG) == 0) {
        return true;
    }
    return false;
}

bool example_server::waits() {
    using std::chrono::steady_clock;
    const std::string path = "/proc/" + std::to_string(pid_) + "/stat";
    for (const auto end = steady_clock::now() + patience; runs() && steady_clock::now() < end;) {
        std::string line;
        std::getline(std::ifstream(path), line);
        if (line.find(") S ") != line.npos) {
            return true;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return false;
}

unsigned long example_server::size_kib() const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmPeak:")) {
            return std::stoul(line.substr(7));
        }
    }
    return 0;
}

std::size_t example_server::fd_count() const {
    std::error_code gone;
    const std::filesystem::directory_iterator fds("/proc/" + std::to_string(pid_) + "/fd", gone);
    return static_cast<std::size_t>(std::distance(begin(fds), end(fds)));
}

bool example_server::comes_to_rest_with(std::size_t fds) const {
    using std::chrono::steady_clock;
    for (const auto end = steady_clock::now() + patience; steady_clock::now() < end;) {
        if (fd_count() <= fds) {
            return true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
}

void example_server::ask_to_stop(int signal) {
    input_.reset();
    if (signal != 0) {
        ::kill(pid_, signal);
    }
}

int example_server::ending() {
    using std::chrono::steady_clock;
    for (const auto end = steady_clock::now() + patience; runs();) {
        if (steady_clock::now() > end) {
            return 2000;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    return WIFSIGNALED(status_) ? 1000 + WTERMSIG(status_) : WEXITSTATUS(status_);
}

std::string example_server::all_words() const {
    std::ostringstream all;
    all << std::ifstream(scratch_.path("err")).rdbuf();
    return all.str();
}

std::string example_server::last_words() const {
    const std::string text = all_words();
    return text.substr(text.size() - std::min<std::size_t>(text.size(), 1000));
}

}  // namespace eddy::test

#endif  // EDDY_TEST_EXAMPLES
