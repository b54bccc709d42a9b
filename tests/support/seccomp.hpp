// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <vector>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace eddy::test {

/// From here on each of these system calls has that outcome in this thread, for example
/// `SECCOMP_RET_ERRNO | EPERM`. It cannot be taken back: for children only. False: not permitted.
inline bool filter_calls(std::initializer_list<long> calls, unsigned outcome) {
    std::vector<sock_filter> program{BPF_STMT(
        BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(__builtin_offsetof(seccomp_data, nr)))};
    for (const long call : calls) {
        program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
        program.push_back(BPF_STMT(BPF_RET | BPF_K, outcome));
    }
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

inline bool deny_calls(std::initializer_list<long> calls, int error) {
    return filter_calls(calls, SECCOMP_RET_ERRNO | static_cast<unsigned>(error));
}

}  // namespace eddy::test
