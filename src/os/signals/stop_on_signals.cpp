// SPDX-License-Identifier: Apache-2.0

// Stops loops at the first signal, and lets the second one end the process.
#include <eddy/os/stop_on_signals.hpp>

#include "kernel/signal.hpp"

#include <eddy/base/detail/member.hpp>
#include <eddy/os/block_signals.hpp>

#include <system_error>

namespace eddy {

namespace {

signal_set without_ignored(signal_set signals) {
    signal_set kept = signals;
    signals.for_each([&](int signum) {
        if (kernel::is_ignored(signum)) {
            kept.remove(signum);
        }
    });
    return kept;
}

}  // namespace

struct stop_on_signals::release {
    signal_set signals;
    entry job{[](entry& e) noexcept {
        const release& self = detail::owner_of<&release::job>(e);
        static_cast<void>(kernel::unblock_signals(self.signals.native()));
    }};
};

stop_on_signals::stop_on_signals(action stop, void* what, loop& home, signal_set signals)
    : stop_(stop),
      what_(what),
      signals_(without_ignored(signals)),
      source_(home, {.name = "stop on signals", .background = true}),
      wait_(&on_signal) {
    if (signals_.empty()) {
        return;
    }
    block_signals(signals_);
    source_.attach_or_throw(signals_);
    static_cast<void>(source_.wait(wait_, signals_));  // cannot fail: they are attached
}

stop_on_signals::stop_on_signals(loop& home, signal_set signals)
    : stop_on_signals([](void* l) noexcept { static_cast<loop*>(l)->stop(); }, &home, home,
                      signals) {}

stop_on_signals::stop_on_signals(loop_group& group, signal_set signals)
    : stop_on_signals([](void* g) noexcept { static_cast<loop_group*>(g)->stop(); }, &group,
                      group.at(0), signals) {
    group_ = &group;
    releases_ = std::make_unique<release[]>(group.size() - 1);
}

stop_on_signals::~stop_on_signals() {
    for (std::size_t i = 1; group_ != nullptr && i != group_->size(); ++i) {
        // A loop that had ended before the signal came has not run its job.
        group_->at(i).disarm(releases_[i - 1].job);
    }
}

void stop_on_signals::on_signal(signal_wait& w) noexcept {
    auto& self = detail::owner_of<&stop_on_signals::wait_>(w);
    if (!w.error()) {
        self.let_next_through();
        self.stop_(self.what_);
    }
}

void stop_on_signals::let_next_through() noexcept {
    source_.detach();
    signals_.for_each([](int signum) {
        // Cannot fail: the signal was attached.
        static_cast<void>(kernel::set_default_disposition(signum));
    });
    for (std::size_t i = 1; group_ != nullptr && i != group_->size(); ++i) {
        // Posted before the stop, so that the loop runs it.
        releases_[i - 1].signals = signals_;
        group_->at(i).post(releases_[i - 1].job);
    }
    static_cast<void>(kernel::unblock_signals(signals_.native()));
}

}  // namespace eddy
