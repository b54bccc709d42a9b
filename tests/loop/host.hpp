// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/loop/embedding.hpp>

#include <chrono>
#include <functional>

#include <poll.h>

namespace eddy::test {

/// Whether a host that sleeps on the fd alone would be woken by now.
inline bool is_readable(int fd) {
    pollfd one{fd, POLLIN, 0};
    return ::poll(&one, 1, 0) == 1;
}

/// A host that knows nothing of eddy but an fd. It sleeps in poll(2), without a time limit of its
/// own but the one after which it gives up.
class bare_host {
public:
    explicit bare_host(embedding& inner) : inner_(inner) {}

    /// Runs until the condition holds; false if nothing wakes it for `limit`.
    bool until(const std::function<bool()>& condition,
               std::chrono::milliseconds limit = std::chrono::seconds(5)) {
        while (!condition()) {
            pollfd one{inner_.handle(), POLLIN, 0};
            ++sleeps;
            if (::poll(&one, 1, static_cast<int>(limit.count())) != 1) {
                return false;
            }
            completions += inner_.run_ready();
        }
        return true;
    }
    /// Runs until nothing is to be done.
    void settle() {
        for (int i = 0; i != 1000 && is_readable(inner_.handle()); ++i) {
            completions += inner_.run_ready();
        }
    }

    std::size_t sleeps = 0;
    std::size_t completions = 0;

private:
    embedding& inner_;
};

}  // namespace eddy::test
