// SPDX-License-Identifier: Apache-2.0

// Begins and ends a run of a loop on the current thread.
#include "loop/run_scope.hpp"

#include "engine/engine.hpp"
#include "kernel/call.hpp"
#include "kernel/thread.hpp"
#include "loop/run_error.hpp"
#include "loop/stranded_waits.hpp"

#include <algorithm>
#include <system_error>

namespace eddy {

constinit thread_local loop* detail::current_loop = nullptr;

loop::run_scope::run_scope(loop& l, time_point until) : loop_(l), outer_(current()) {
    l.check_use();
    for (const loop* running = current(); running != nullptr; running = running->outer_) {
        EDDY_ASSERT(running != &l, "a loop was run from inside one of its own callbacks");
    }
    EDDY_ASSERT(!l.running_.exchange(true, std::memory_order_relaxed),
                "a loop was run by a thread while another runs it");
    if (!l.engine_->claim()) {
        l.running_.store(false, std::memory_order_relaxed);
        raise_run_error(std::make_error_code(std::errc::operation_not_permitted), l.name(),
                        "has operations pending that belong to another thread", nullptr);
    }
#ifndef NDEBUG
    stranded_waits::forget(l);
#endif
    l.run_until_ = until;
    detail::current_loop = &l;
    l.outer_ = outer_;
    l.attended_ = false;
    l.inbox_.rouse();  // claim() may have changed how to wake it: park() publishes that
    // Earlier calls of the thread do not count. Subtracting them here is fine modulo 2^64.
    l.counters_.syscalls -= kernel::calls_made();
    if (l.options_.timer_slack >= duration::zero()) {
        old_slack_ns_ = kernel::timer_slack_ns();
        // A slack of 0 would mean the default.
        const auto slack_ns = std::max<duration::rep>(l.options_.timer_slack.count(), 1);
        kernel::set_timer_slack_ns(static_cast<std::uint64_t>(slack_ns));
    }
    if (l.told_of_next_run_ != nullptr) {
        give_notice(l.told_of_next_run_, &loop_notice::on_notice_);
    }
}

loop::run_scope::~run_scope() {
    if (old_slack_ns_ != 0) {
        kernel::set_timer_slack_ns(old_slack_ns_);
    }
    loop_.engine_->run_ends();
    loop_.inbox_.rouse();
    loop_.counters_.syscalls += kernel::calls_made();
    loop_.completion_limit_ = UINT64_MAX;
    loop_.run_until_ = never;
    loop_.turn_now_ = time_point::min();
    loop_.stopping_ = false;
    loop_.set_ends(false, loop_.destroying_);
    if (loop_.embedded_) {
        loop_.settle();
    }
    loop_.outer_ = nullptr;
    detail::current_loop = outer_;
    loop_.running_.store(false, std::memory_order_relaxed);
}

}  // namespace eddy
