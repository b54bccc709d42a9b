// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "common/die.hpp"
#include "common/unique_fd.hpp"

namespace bench {

/// CPU time of this process, of all its threads.
inline std::int64_t own_cpu_ns() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto ns = [](const timeval& t) {
        return t.tv_sec * 1'000'000'000LL + t.tv_usec * 1'000LL;
    };
    return ns(used.ru_utime) + ns(used.ru_stime);
}

/// A server in a process of its own, forked before this one uses gRPC. Ends with its object.
class server_process {
public:
    /// `serve` makes the server: something with a port().
    template <class Serve>
    explicit server_process(Serve serve) {
        int ends[2];
        must(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), "socketpair");
        talk_ = unique_fd(ends[0]);
        unique_fd its_end(ends[1]);
        pid_ = must(::fork(), "fork");
        if (pid_ == 0) {
            talk_.reset();
            be_the_server(serve, its_end.get());
        }
        its_end.reset();
        port_ = static_cast<int>(answer());
    }
    server_process(const server_process&) = delete;
    server_process& operator=(const server_process&) = delete;
    ~server_process() {
        talk_.reset();
        ::waitpid(pid_, nullptr, 0);
    }

    int port() const { return port_; }

    std::int64_t cpu_ns() const {
        const char question = '?';
        must(::write(talk_.get(), &question, 1), "asking the server");
        return answer();
    }

private:
    template <class Serve>
    [[noreturn]] static void be_the_server(Serve serve, int talk) {
        const auto server = serve();
        std::int64_t value = server->port();
        char question = 0;
        while (::write(talk, &value, sizeof value) > 0 && ::read(talk, &question, 1) > 0) {
            value = own_cpu_ns();
        }
        ::_exit(0);
    }

    std::int64_t answer() const {
        std::int64_t value = 0;
        if (::read(talk_.get(), &value, sizeof value) != sizeof value) die("the server ended", 0);
        return value;
    }

    unique_fd talk_;
    pid_t pid_ = -1;
    int port_ = 0;
};

}  // namespace bench
