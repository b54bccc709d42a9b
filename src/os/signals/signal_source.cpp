// SPDX-License-Identifier: Apache-2.0

// Attaches signals to a loop, and gives them to those who wait.
#include <eddy/os/signal_source.hpp>

#include "base/report.hpp"
#include "kernel/signal.hpp"
#include "os/signals/signal_owners.hpp"
#include "os/signals/signal_slot.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace eddy {

namespace {

constexpr priority_level least_urgent = priority_count - 1;

/// False for signals that kill or stop even if they are blocked.
bool waitable(int signum) noexcept {
    switch (signum) {
        case SIGSEGV:
        case SIGBUS:
        case SIGFPE:
        case SIGILL:
        case SIGKILL:
        case SIGSTOP:
            return false;
        default:
            return true;
    }
}

std::error_code system_error(int error) noexcept { return {error, std::system_category()}; }

/// Reports a thread that does not block a signal of the process: the kernel may give it the signal.
/// The search takes a few calls per thread, so only builds with NDEBUG undefined do it.
void report_thread_not_blocking([[maybe_unused]] int signum) noexcept {
#ifndef NDEBUG
    const kernel::thread_identity found = kernel::thread_not_blocking(signum);
    if (found.id != 0) {
        reportf(
            "signal_source: thread %d ('%s') does not block signal %d (%s), so the kernel may "
            "deliver it there: call block_signals() before that thread starts",
            static_cast<int>(found.id), found.name, signum, ::strsignal(signum));
    }
#endif
}

}  // namespace

signal_source::signal_source(loop& home, signal_source_options options) noexcept
    : home_(home), options_(options) {}

signal_source::signal_source(loop& home, signal_set signals, signal_source_options options)
    : signal_source(home, options) {
    attach_or_throw(signals);
}

signal_source::~signal_source() { detach(); }

std::error_code signal_source::attach(signal_set signals) noexcept {
    int refused = 0;
    return attach(signals, refused);
}

void signal_source::attach_or_throw(signal_set signals) {
    int refused = 0;
    if (auto error = attach(signals, refused)) {
        throw std::system_error(error, "cannot wait for signal " + std::to_string(refused) + " (" +
                                           ::strsignal(refused) + ")");
    }
}

std::error_code signal_source::attach(signal_set signals, int& refused) noexcept {
    const signal_set fresh = signals - signals_;
    std::error_code first_error;
    fresh.for_each([&](int signum) {
        if (!first_error) {
            first_error = attach_one(signum);
            refused = signum;
        }
    });
    if (first_error) {
        detach(fresh);
    }
    return first_error;
}

std::error_code signal_source::attach_one(int signum) noexcept {
    if (!waitable(signum)) {
        return errc::signal_not_waitable;
    }
    const bool ignored = kernel::is_ignored(signum);
    if (ignored && options_.strict) {
        return errc::signal_ignored;
    }
    const sigset_t mask = kernel::signal_mask();
    if (!ignored && sigismember(&mask, signum) != 1) {
        return errc::signal_not_blocked;
    }
    slot_pointer made(new (std::nothrow) slot(*this, signum, ignored));
    if (made == nullptr) {
        return system_error(ENOMEM);
    }
    if (!ignored && !detail::claim_signal(signum, this)) {
        return errc::signal_has_owner;
    }
    if (auto error = made->open()) {
        if (!ignored) {
            detail::release_signal(signum);
        }
        return error;
    }
    slot_of(signum) = std::move(made);
    signals_.add(signum);
    if (!ignored) {
        report_thread_not_blocking(signum);
    }
    return {};
}

void signal_source::detach(signal_set signals, mask_after mask) noexcept {
    const signal_set leaving = signals - (signals - signals_);
    leaving.for_each([this](int signum) { remove(signum); });
    if (mask == mask_after::restored) {
        // Cannot fail: the set has only valid signals.
        static_cast<void>(
            kernel::unblock_signals((leaving - signal_set(kernel::original_mask())).native()));
    }
    end_waits(leaving, system_error(ECANCELED), false);
}

void signal_source::remove(int signum) noexcept {
    slot_pointer leaving = std::move(slot_of(signum));
    signals_.remove(signum);
    if (!home_.lost_by_fork()) {
        leaving->children.reset();
        home_.abandon(leaving->ready);
        home_.disarm(leaving->look);
    }
    leaving->fd.close();
    if (!leaving->ignored) {
        detail::release_signal(signum);
    }
    if (leaving->in_use()) {
        // The loop, which can only be destroyed, still refers to the slot: the child leaks it.
        static_cast<void>(leaving.release());
    }
}

signal_set signal_source::ignored() const noexcept {
    signal_set found;
    signals_.for_each([&](int signum) {
        if (slots_[static_cast<std::size_t>(signum - 1)]->ignored) {
            found.add(signum);
        }
    });
    return found;
}

std::error_code signal_source::wait(signal_wait& w, int signum) noexcept {
    if (!signals_.contains(signum)) {
        return errc::signal_not_attached;
    }
    signal_set only_this;
    only_this.add(signum);
    return wait(w, only_this);
}

std::error_code signal_source::wait(signal_wait& w, signal_set signals) noexcept {
    EDDY_ASSERT(!w.pending(), "a signal_wait was started that is pending already");
    if (signals.empty()) {
        return system_error(EINVAL);
    }
    if (!signals_.includes(signals)) {
        return errc::signal_not_attached;
    }
    w.source_ = this;
    w.signals_ = signals;
    waits_.insert(w);
    signals.for_each([&](int signum) { slot_of(signum)->look_at(w.priority_); });
    return {};
}

signal_wait* signal_source::next_for(int signum) const noexcept {
    signal_wait* w = waits_.front();
    while (w != nullptr && !w->wants(signum)) {
        w = detail::source_waits<signal_wait>::next(*w);
    }
    return w;
}

/// Called when a wait for `signals` has ended.
void signal_source::no_longer_wanted(signal_set signals) noexcept {
    signals.for_each([this](int signum) {
        if (slot* const left = slot_of(signum).get();
            left != nullptr && left->ready.pending() && next_for(signum) == nullptr) {
            // Cancel `ready` later: most often somebody waits again before this look runs.
            left->look_at(least_urgent);
        }
    });
}

/// Makes sure that posted looks do not come too late for `w`, whose priority has changed.
void signal_source::moved(const signal_wait& w) noexcept {
    w.signals_.for_each([&](int signum) {
        if (slot* const wanted = slot_of(signum).get();
            wanted != nullptr && wanted->look.posted()) {
            wanted->look_at(w.priority_);
        }
    });
}

void signal_source::deliver(signal_wait& w, const signal_info& info) noexcept {
    waits_.erase(w);
    no_longer_wanted(w.signals_);
    if (const signal_wait* const next = next_for(info.signum)) {
        slot_of(info.signum)->look_at(next->priority_);
    }
    w.info_ = info;
    w.complete({}, false);
}

void signal_source::end_waits(signal_set signals, std::error_code error, bool loop_ends) noexcept {
    // A completion may do anything, even destroy this source or other waits in the list.
    detail::source_waits<signal_wait> ending;
    for (signal_wait* w = waits_.front(); w != nullptr;) {
        signal_wait* const after = detail::source_waits<signal_wait>::next(*w);
        if ((w->signals_ - signals) != w->signals_) {
            waits_.erase(*w);
            no_longer_wanted(w->signals_);
            w->source_ = nullptr;
            ending.insert(*w);
        }
        w = after;
    }
    const bool tell = !home_.lost_by_fork();
    while (signal_wait* const w = ending.front()) {
        ending.erase(*w);
        w->info_ = {};
        if (tell) {
            w->complete(error, loop_ends);
        }
    }
}

}  // namespace eddy
