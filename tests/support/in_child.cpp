// SPDX-License-Identifier: Apache-2.0
#include "support/in_child.hpp"

#include "support/patience.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <exception>
#include <system_error>

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace eddy::test {

namespace {

/// Longer than what is waited for inside, which tells more of what was missing.
constexpr int limit_ms = std::chrono::milliseconds(2 * patience).count();

int run_body(const std::function<int()>& body) noexcept {
    try {
        const int result = body();
        return ::testing::Test::HasFailure() ? 99 : result;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "in the child: %s\n", e.what());
        return 98;
    }
}

}  // namespace

int in_child(const std::function<int()>& body) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child < 0) {
        throw std::system_error(errno, std::system_category(), "fork");
    }
    if (child == 0) {
        const int result = run_body(body);
        std::fflush(nullptr);
        ::_exit(result);
    }
    const int handle = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
    pollfd end{handle, POLLIN, 0};
    const bool late = ::poll(&end, 1, limit_ms) != 1;
    ::close(handle);
    if (late) {
        ::kill(child, SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (late) {
        return 2000;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

int in_pid_namespace(const std::function<int()>& body) {
    // It is a namespace for the children of who asks for it.
    return in_child([&body] {
        if (::unshare(CLONE_NEWPID) != 0) {
            return not_permitted;
        }
        const int result = in_child(body);
        EXPECT_LT(result, 1000) << "the child did not end by itself";
        return result;
    });
}

}  // namespace eddy::test
