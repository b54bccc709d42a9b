#include "kernel/restrictions.hpp"

#include "kernel/call.hpp"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace eddy::kernel {

bool has_seccomp_filter() noexcept {
    count_call();
    return ::prctl(PR_GET_SECCOMP) == SECCOMP_MODE_FILTER;
}

bool uring_is_disabled() noexcept {
    count_call();
    const int fd = ::open("/proc/sys/kernel/io_uring_disabled", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    char digit = '0';
    count_call();
    const bool known = ::read(fd, &digit, 1) == 1;
    count_call();
    ::close(fd);
    return known && digit != '0';
}

}  // namespace eddy::kernel
