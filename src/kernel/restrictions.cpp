// SPDX-License-Identifier: Apache-2.0

// Finds out why the kernel may refuse a call.
#include "kernel/restrictions.hpp"

#include "kernel/io.hpp"
#include "kernel/thread_status.hpp"

#include <eddy/base/unique_fd.hpp>

#include <cstdlib>

#include <fcntl.h>
#include <linux/seccomp.h>

namespace eddy::kernel {

bool has_seccomp_filter() noexcept {
    // Not by prctl(PR_GET_SECCOMP), for which a filter may kill the process.
    const thread_status self("thread-self");
    const char* const mode = self.field("Seccomp");
    return mode != nullptr && std::atoi(mode) == SECCOMP_MODE_FILTER;
}

bool uring_is_disabled() noexcept {
    const unique_fd file(open(AT_FDCWD, "/proc/sys/kernel/io_uring_disabled", O_RDONLY, 0, 0).fd());
    char digit = '0';
    return file && read(file.get(), &digit, 1, -1).count() == 1 && digit != '0';
}

}  // namespace eddy::kernel
