// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/os/signal_set.hpp>

#include <csignal>

/// Signals of this process, for tests. Block them before threads are started.
namespace eddy::test {

/// Blocks signals in this thread, and in those that it starts meanwhile. At the end, what is still
/// pending is thrown away and the mask is as it was.
class blocked_signals {
public:
    explicit blocked_signals(signal_set signals);
    ~blocked_signals();
    blocked_signals(const blocked_signals&) = delete;
    blocked_signals& operator=(const blocked_signals&) = delete;

private:
    sigset_t blocked_;
    sigset_t before_;
};

/// To this process.
void send_signal(int signum);
/// The same with a value. False: the kernel's queue is full.
bool queue_signal(int signum, int value);
/// To this thread alone.
void send_to_this_thread(int signum);

bool is_pending(int signum);
bool is_blocked(int signum);

}  // namespace eddy::test
