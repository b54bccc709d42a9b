// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/engine_fixture.hpp"

#include <eddy/watch/watches.hpp>

#include <functional>
#include <utility>

#include <unistd.h>

namespace eddy::test {

/// Reads until nothing is left; how many bytes there were.
inline std::size_t drain(int fd) {
    std::size_t total = 0;
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(fd, buffer, sizeof buffer)) > 0;) {
        total += static_cast<std::size_t>(n);
    }
    return total;
}
inline void read_one(int fd) {
    char byte = 0;
    EXPECT_EQ(::read(fd, &byte, 1), 1);
}

/// A watch that counts its calls and lets a function decide.
class test_watch : public fd_watch {
public:
    using decide = std::function<reaction(test_watch&)>;

    test_watch(loop& home, unique_fd fd, interest wanted, decide function,
               const watch_options& options = {})
        : fd_watch(home, std::move(fd), wanted, &on_ready, &on_removed, options),
          function_(std::move(function)) {}
    test_watch(loop& home, int fd, interest wanted, decide function,
               const watch_options& options = {})
        : fd_watch(home, fd, wanted, &on_ready, &on_removed, options),
          function_(std::move(function)) {}
    test_watch(const descriptor& d, interest wanted, decide function,
               const watch_options& options = {})
        : fd_watch(d, wanted, &on_ready, &on_removed, options), function_(std::move(function)) {}

    int calls = 0;
    int removals = 0;
    bool open_when_removed = false;  ///< whether `look_at` was open in on_removed
    int look_at = -1;

private:
    static reaction on_ready(fd_watch& w) noexcept {
        auto& self = static_cast<test_watch&>(w);
        EXPECT_EQ(self.removals, 0);
        ++self.calls;
        const decide function = self.function_;  // it may destroy the watch
        return function(self);
    }
    static void on_removed(fd_watch& w) noexcept {
        auto& self = static_cast<test_watch&>(w);
        ++self.removals;
        self.open_when_removed = self.look_at >= 0 && is_open(self.look_at);
    }

    decide function_;
};

/// Takes all there is.
inline reaction take_all(test_watch& w) {
    drain(w.native_handle());
    return reaction::rearm;
}
/// Takes one byte.
inline reaction take_one(test_watch& w) {
    read_one(w.native_handle());
    return reaction::again;
}

}  // namespace eddy::test
