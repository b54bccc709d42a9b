// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/fds.hpp"
#include "support/memory_faults.hpp"
#include "support/with_every_allocation_failing.hpp"

#include <eddy/base/unique_fd.hpp>

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace eddy::test {

/// One of the examples, most of them servers, as a process whose allocations fail on demand. It has
/// a pipe as its standard input; to close that is to ask it to stop.
class example_server {
public:
    struct options {
        std::string program;
        std::string engine = "epoll";
        std::vector<std::string> arguments{};
        std::string directory = "/";
        bool serves = true;  ///< says on which port when it does
        /// A limit of the address space in KiB, as that of `ulimit -v`; 0: none, and the
        /// allocations may fail on demand.
        unsigned long limit_kib = 0;
        std::optional<memory_fault> at_start{};  ///< what fails from the beginning
    };

    /// Waits until it serves, or has ended. Throws std::system_error.
    explicit example_server(const options& what);
    /// Kills it if it still runs.
    ~example_server();
    example_server(const example_server&) = delete;
    example_server& operator=(const example_server&) = delete;

    /// 0: it has ended instead of serving.
    unsigned short port() const noexcept { return port_; }
    memory_faults& faults() noexcept { return *faults_; }
    bool runs();
    /// Until it waits for somebody: it has started, then. False if it has ended instead.
    bool waits();
    /// How large its address space is.
    unsigned long size_kib() const;
    /// How many descriptors it has.
    std::size_t fd_count() const;
    /// Waits until it has no more descriptors than that; false if that takes too long.
    bool comes_to_rest_with(std::size_t fds) const;
    /// Asks it to stop, by the end of its input and by `signal` if that is not 0.
    void ask_to_stop(int signal = 0);
    /// How it has ended: its status, 1000 + n for signal n, 2000 if it goes on for too long.
    int ending();
    /// What it has printed on standard error.
    std::string all_words() const;
    /// The last lines of that.
    std::string last_words() const;

private:
    void start(const options& what);
    void read_port();

    scratch_directory scratch_;
    unique_fd shared_;
    memory_faults* faults_ = nullptr;
    unique_fd input_;
    unique_fd output_;
    pid_t pid_ = 0;
    int status_ = -1;
    unsigned short port_ = 0;
};

}  // namespace eddy::test
