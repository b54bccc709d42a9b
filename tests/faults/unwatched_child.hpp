// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

#include <spawn.h>
#include <sys/types.h>
#include <unistd.h>

namespace eddy::test {

/// A child that the library knows nothing of. Unlike fork(), this takes no longer where a sanitizer
/// has mapped a lot of memory. -1: there is none.
inline pid_t unwatched_child(const char* program, const char* argument = nullptr) noexcept {
    const char* const arguments[] = {program, argument, nullptr};
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t pid = -1;
    const int error = ::posix_spawn(&pid, program, nullptr, &attributes,
                                    const_cast<char* const*>(arguments), ::environ);
    ::posix_spawnattr_destroy(&attributes);
    return error == 0 ? pid : -1;
}

}  // namespace eddy::test
