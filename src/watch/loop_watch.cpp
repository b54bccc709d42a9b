// SPDX-License-Identifier: Apache-2.0

// Runs the inner loop when its native handle is readable on the outer loop.
#include <eddy/watch/loop_watch.hpp>

namespace eddy {

loop_watch::loop_watch(loop& outer, loop& inner, const watch_options& options)
    : embedding_(inner),
      watch_(outer, embedding_.handle(), interest::readable, &on_ready, nullptr, options) {}

reaction loop_watch::on_ready(fd_watch& w) noexcept try {
    loop_watch& self = detail::owner_of<&loop_watch::watch_>(w);
    self.error_ = {};
    self.embedding_.run_ready();
    return reaction::again;  // work that is left raises no new event
} catch (const std::system_error& error) {
    detail::owner_of<&loop_watch::watch_>(w).error_ = error.code();
    return reaction::disarm;
}

}  // namespace eddy
