// SPDX-License-Identifier: Apache-2.0

// Checks signal numbers, and converts sets to and from sigset_t.
#include <eddy/os/signal_set.hpp>

#include <string>
#include <system_error>

namespace eddy {

namespace {

void check(int signum) {
    if (!signal_set::valid(signum)) {
        throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                                "there is no signal " + std::to_string(signum));
    }
}

}  // namespace

signal_set::signal_set(const sigset_t& native) noexcept {
    for (int signum = 1; signum <= 64; ++signum) {
        if (valid(signum) && sigismember(&native, signum) == 1) {
            bits_ |= bit(signum);
        }
    }
}

bool signal_set::valid(int signum) noexcept {
    constexpr int last_standard = 31;
    return signum >= 1 && signum <= SIGRTMAX && (signum <= last_standard || signum >= SIGRTMIN);
}

signal_set& signal_set::add(int signum) {
    check(signum);
    bits_ |= bit(signum);
    return *this;
}

signal_set& signal_set::remove(int signum) {
    check(signum);
    bits_ &= ~bit(signum);
    return *this;
}

sigset_t signal_set::native() const noexcept {
    sigset_t set;
    sigemptyset(&set);
    for_each([&](int signum) { sigaddset(&set, signum); });
    return set;
}

}  // namespace eddy
