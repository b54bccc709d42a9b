#include "kernel/restrictions.hpp"

#include "kernel/io.hpp"
#include "kernel/once.hpp"

#include <eddy/base/unique_fd.hpp>

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

namespace eddy::kernel {

bool has_seccomp_filter() noexcept {
    const io_result mode = once(call::prctl, [] { return ::prctl(PR_GET_SECCOMP); });
    return mode.raw() == SECCOMP_MODE_FILTER;
}

bool uring_is_disabled() noexcept {
    const unique_fd file(open(AT_FDCWD, "/proc/sys/kernel/io_uring_disabled", O_RDONLY, 0, 0).fd());
    char digit = '0';
    return file && read(file.get(), &digit, 1, -1).count() == 1 && digit != '0';
}

}  // namespace eddy::kernel
