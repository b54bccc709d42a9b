// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/unique_fd.hpp>

#include <fcntl.h>
#include <sys/resource.h>

namespace eddy::test {

/// Lets this process open nothing more while it lives.
class no_more_fds {
public:
    no_more_fds() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        // The lowest free number is the first that would be given out.
        const unique_fd probe(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        rlimit limit = before_;
        limit.rlim_cur = static_cast<rlim_t>(probe.get());
        ::setrlimit(RLIMIT_NOFILE, &limit);
    }
    ~no_more_fds() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    no_more_fds(const no_more_fds&) = delete;
    no_more_fds& operator=(const no_more_fds&) = delete;

private:
    rlimit before_{};
};

}  // namespace eddy::test
