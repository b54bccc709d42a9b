// SPDX-License-Identifier: Apache-2.0

// Waits for signals at a source of its own, or at one that is shared.
#include <eddy/watch/signal_watch.hpp>

#include <eddy/base/error.hpp>

namespace eddy {

signal_watch::signal_watch(loop& home, signal_set signals, callback on_signal,
                           removed_callback on_removed, const watch_options& options)
    : source_watch(home, options),
      source_(nullptr),
      signals_(signals),
      on_signal_(on_signal),
      on_removed_(on_removed) {
    source_ = &own_.emplace(home, signal_source_options{.name = options.name});
    own_->attach_or_throw(signals);
    begin(options.armed);
}

signal_watch::signal_watch(signal_source& source, signal_set signals, callback on_signal,
                           removed_callback on_removed, const watch_options& options)
    : source_watch(source.home(), options),
      source_(&source),
      signals_(signals),
      on_signal_(on_signal),
      on_removed_(on_removed) {
    if (!source.signals().includes(signals)) {
        throw std::system_error(errc::signal_not_attached, "cannot watch a signal");
    }
    begin(options.armed);
}

void signal_watch::begin(bool armed) {
    if (signals_.empty()) {
        throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                                "cannot watch no signal");
    }
    if (armed) {
        arm();
    }
}

signal_watch::~signal_watch() {
    leave();
    stop();
}

std::error_code signal_watch::wait_for_next(signal_wait& w) noexcept {
    return source_->wait(w, signals_);
}

reaction signal_watch::call() noexcept {
    const signal_info info = wait().info();  // a copy: the callback may destroy the watch
    return on_signal_(*this, info);
}

void signal_watch::removed() noexcept {
    own_.reset();
    if (on_removed_ != nullptr) {
        on_removed_(*this);
    }
}

}  // namespace eddy
