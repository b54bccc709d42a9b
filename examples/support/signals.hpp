#pragma once

#include <eddy/os/signal_set.hpp>

#include <csignal>

namespace example {

/// Without those that whoever started this program wants it to ignore: a shell that is no
/// terminal's does so with SIGINT in the background.
inline eddy::signal_set without_ignored(eddy::signal_set signals) {
    eddy::signal_set left = signals;
    signals.for_each([&](int signum) {
        struct sigaction now {};
        if (::sigaction(signum, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) {
            left.remove(signum);
        }
    });
    return left;
}

}  // namespace example
