// SPDX-License-Identifier: Apache-2.0

// Notifies all loops of SIGCHLD, and keeps the signal for its owner.
#include "os/children/child_table.hpp"

#include "kernel/fork_mark.hpp"
#include "kernel/signal.hpp"
#include "os/processes/process_registry.hpp"

#include <eddy/base/detail/member.hpp>

#include <utility>

namespace eddy::detail {

child_listener::child_listener(loop& home, kind what, callback on_signal, void* who) noexcept
    : home_(home),
      on_signal_(on_signal),
      who_(who),
      kind_(what),
      process_mark_(kernel::process_mark()),
      notice_(&on_notice, &on_notice) {
    notice_.set_priority(0);  // the notice runs no user code
    process_registry::instance().children().add(*this);
}

child_listener::~child_listener() {
    if (!in_forked_child()) {
        process_registry::instance().children().remove(*this);
    }
    if (notice_.posted()) {
        home_.disarm(notice_);
    }
}

bool child_listener::in_forked_child() const noexcept {
    return process_mark_ != kernel::process_mark();
}

void child_listener::join_after_fork() noexcept {
    if (!in_forked_child()) {
        return;
    }
    process_mark_ = kernel::process_mark();
    // A thread that was about to post the notice is not here. relaxed: nobody else knows this.
    told_.store(notice_.posted(), std::memory_order_relaxed);
    process_registry::instance().children().add(*this);
}

void child_listener::tell() noexcept {
    // acq_rel: pairs with on_notice(): the loop has released the entry, which may be posted again.
    if (!told_.exchange(true, std::memory_order_acq_rel)) {
        home_.post(notice_);
    }
}

void child_listener::on_notice(entry& e) noexcept {
    child_listener& self = owner_of<&child_listener::notice_>(e);
    // Cleared before the look: a later notice causes another look. release: pairs with tell().
    self.told_.store(false, std::memory_order_release);
    self.on_signal_(self.who_);
}

void child_table::add(child_listener& one) noexcept {
    const std::lock_guard hold(lock_);
    one.next_ = std::exchange(first_, &one);
    readers_ += one.kind_ == child_listener::kind::children ? 1 : 0;
}

void child_table::remove(child_listener& one) noexcept {
    const std::lock_guard hold(lock_);
    child_listener** link = &first_;
    while (*link != &one) {
        link = &(*link)->next_;
    }
    *link = one.next_;
    readers_ -= one.kind_ == child_listener::kind::children ? 1 : 0;
    if (readers_ == 0 && kept_) {
        kernel::put_back(*std::exchange(kept_, std::nullopt));
    }
}

void child_table::tell_others(const child_listener* by) noexcept {
    for (child_listener* one = first_; one != nullptr; one = one->next_) {
        if (one != by) {
            one->tell();
        }
    }
}

void child_table::read(const signalfd_siginfo& record, const child_listener& by) noexcept {
    const std::lock_guard hold(lock_);
    if (!kept_) {
        kept_ = record;
    }
    tell_others(&by);
}

void child_table::read_as_signal(const child_listener& by) noexcept {
    const std::lock_guard hold(lock_);
    tell_others(&by);
}

bool child_table::take_kept(signalfd_siginfo& out) noexcept {
    const std::lock_guard hold(lock_);
    if (!kept_) {
        return false;
    }
    out = *std::exchange(kept_, std::nullopt);
    return true;
}

void child_table::tell_all() noexcept {
    const std::lock_guard hold(lock_);
    tell_others(nullptr);
}

}  // namespace eddy::detail
