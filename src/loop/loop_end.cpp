// SPDX-License-Identifier: Apache-2.0

// The end of a loop: draining, destruction, and the child after fork().
#include "base/report.hpp"
#include "engine/buffer_pool.hpp"
#include "engine/engine.hpp"
#include "kernel/fork_mark.hpp"
#include "kernel/pause.hpp"
#include "loop/blocking_call.hpp"
#include "loop/patience.hpp"
#include "loop/run_scope.hpp"
#include "loop/stranded_waits.hpp"
#include "loop/system_timers.hpp"

#include <eddy/loop/detail/stoppable_io.hpp>
#include <eddy/loop/loop.hpp>

#include <string>

namespace eddy {

loop::~loop() {
    EDDY_ASSERT(!on_thread(), "a loop was destroyed from inside one of its own callbacks");
#ifndef NDEBUG
    stranded_waits::end(*this);
#endif
    if (lost_by_fork()) {
        forget_everything();
    } else {
        set_ends(false, true);
        finish_everything();
    }
    engine_->for_each_descriptor([this](fd_slot& slot) {
        const std::string message = std::string("the loop '") + options_.name +
                                    "' was destroyed before descriptor " + std::to_string(slot.fd) +
                                    " '" + (slot.name != nullptr ? slot.name : "") + "'";
        EDDY_ASSERT(slot.fd < 0, message.c_str());
    });
    // acquire: pairs with send_back() and hand_over(), which may still be about to wake this loop.
    while (!lost_by_fork() && threads_inside_.load(std::memory_order_acquire) != 0) {
        kernel::yield();
    }
#ifndef NDEBUG
    stranded_waits::end(*this);  // recent completions may have begun to wait
#endif
}

bool loop::idle() const noexcept {
    return !has_work() && background_work_ == 0 && inbox_.empty() && ready_.empty();
}

void loop::finish_everything() noexcept try {
    const run_scope scope(*this);
    if (system_timers_ != nullptr) {
        system_timers_->close();
    }
    const time_point give_up = saturating_add(clock::now(), patience);
    take_inbox();
    cancel_entries();
    give_notice_of_end();
    cancel_operations(true);
    cancel_timers();
    const auto all_were_told = [this] { return told_of_end_ == nullptr && residents_ == nullptr; };
    while (!idle() || !all_were_told()) {
        if (clock::now() >= give_up) {
            report_stuck();
        }
        finish_some(all_were_told() ? give_up : time_point::min());
        give_notice_of_end();
    }
} catch (const std::system_error&) {
    report_stuck();  // another thread has operations pending
}

/// Runs one turn. A turn that cannot wait ends everything without the kernel before it throws, so
/// the end of the loop goes on.
void loop::finish_some(time_point until) noexcept try {
    turn(until, options_.batch_max);
} catch (const std::exception& error) {
    report(error.what());
}

/// Never inlined: gcc would not see that `behind` in give_notice() takes itself back.
[[gnu::noinline]] void loop::insert(loop_notice*& first, loop_notice& notice) noexcept {
    EDDY_ASSERT(notice.link_ == nullptr, "a notice was given to a loop twice");
    notice.next_ = first;
    notice.link_ = &first;
    if (first != nullptr) {
        first->link_ = &notice.next_;
    }
    first = &notice;
}

/// Notifies all notices of a list. Notices that are added in the meantime are in front of `behind`
/// and are notified another time.
void loop::give_notice(loop_notice*& first, loop_notice::callback loop_notice::* which) noexcept {
    loop_notice behind(nullptr);
    insert(first, behind);
    while (loop_notice* const notice = behind.next_) {
        notice->take_back();
        if (const loop_notice::callback told = notice->*which; told != nullptr) {
            told(*notice);
        }
    }
}

void loop::give_notice_of_end() noexcept {
    give_notice(residents_, &loop_notice::on_notice_);
    give_notice(told_of_end_, &loop_notice::on_notice_);
}

void loop::tell_of_end(loop_notice& notice) noexcept { insert(told_of_end_, notice); }

void loop::add_resident(loop_notice& notice) noexcept { insert(residents_, notice); }

loop_notice* loop::resident(loop_notice::callback on_notice) const noexcept {
    loop_notice* found = residents_;
    while (found != nullptr && found->on_notice_ != on_notice) {
        found = found->next_;
    }
    return found;
}

bool loop::tell_of_next_run(loop_notice& notice) noexcept {
    if (!destroying_) {
        insert(told_of_next_run_, notice);
    }
    return !destroying_;
}

void loop::report_stuck() const noexcept {
    std::string message =
        std::string("the loop '") + options_.name + "' was destroyed, but this cannot be ended:";
    const auto add = [&](const live_operation& live) {
        message += std::string(" ") + live.what + " '" + live.name + "'";
        if (live.fd >= 0) {
            message += " on fd " + std::to_string(live.fd);
        }
        message += ";";
    };
    visit_live(add, true);
    detail::assertion_failed("idle()", message.c_str(), __FILE__, __LINE__);
}

bool loop::ends_by_itself(const io_operation& op, bool timed) noexcept {
    if (timed) {
        return true;
    }
    switch (op.request_.code) {
        case opcode::read:
        case opcode::readv:
        case opcode::receive:
            return op.request_.slot != nullptr && op.request_.slot->kind == descriptor_kind::file;
        case opcode::recv:
        case opcode::recvmsg:
        case opcode::accept:
        case opcode::wait:
            return false;
        default:
            return true;
    }
}

void loop::set_ends(bool draining, bool destroying) noexcept {
    draining_ = draining;
    destroying_ = destroying;
    ends_ = draining || destroying;
    open_room_ = ends() ? nullptr : timer_room_.get();
    transfers_now_ = !ends() && options_.inline_max != 0 && performer_ != nullptr;
}

void loop::begin_drain() noexcept {
    set_ends(true, destroying_);
    cancel_operations(false);
    cancel_timers();
}

void loop::cancel_operations(bool also_those_that_end) noexcept {
    const auto cancel_one = [&](io_operation& op) {
        if (also_those_that_end || !ends_by_itself(op, op.timed_)) {
            engine_->cancel(op, end_reason::canceled);
        }
    };
    engine_->for_each_operation(cancel_one);
    // A multishot operation between two submissions is only in the ready queue.
    ready_.for_each([&](operation& op) {
        if (op.kind() == node_kind::io) {
            cancel_one(static_cast<io_operation&>(op));
        }
    });
}

/// Cancels all posted entries. Later ones are cancelled when they are posted.
void loop::cancel_entries() noexcept {
    const auto cancel_one = [](operation& op) {
        if (op.kind() == node_kind::entry) {
            static_cast<entry&>(op).request_cancel();
        }
    };
    ready_.for_each(cancel_one);
    after_poll_.for_each(cancel_one);
}

void loop::cancel_timers() noexcept {
    // The heap must not change while it is walked: the timers leave it afterwards.
    operation_list cancelled;
    const auto collect = [&](timer_node& node) {
        if (node.owner == timer_owner::timer || node.owner == timer_owner::local_timer) {
            cancelled.push_back(timer_base::of(node));
        }
    };
    timers_.for_each(collect);
    if (system_timers_ != nullptr) {
        system_timers_->heap().for_each(collect);
    }
    while (!cancelled.empty()) {
        auto& t = static_cast<timer_base&>(cancelled.pop_front());
        if (t.kind() == node_kind::timer) {
            begin_cancel(static_cast<timer&>(t));
        } else {
            static_cast<void>(take_out(t));
        }
    }
}

void loop::for_each_live(function_ref<void(const live_operation&)> visit) {
    take_inbox();
    visit_live(visit, false);
}

void loop::visit_live(function_ref<void(const live_operation&)> visit, bool background) const {
    const auto visit_io = [&](io_operation& op) {
        const fd_slot* const slot = op.request_.slot;
        const char* const name = slot != nullptr && slot->name != nullptr ? slot->name : "";
        if (background || !op.background_) {
            visit({to_string(op.request_.code), name, slot != nullptr ? slot->fd : -1});
        }
    };
    engine_->for_each_operation(visit_io);
    const auto visit_timer = [&](const operation& t) {
        const char* const name =
            t.kind() == node_kind::timer ? static_cast<const timer&>(t).name_ : nullptr;
        visit({"timer", name != nullptr ? name : "", -1});
    };
    const auto visit_node = [&](timer_node& node) {
        if (node.owner == timer_owner::timer || node.owner == timer_owner::local_timer) {
            visit_timer(timer_base::of(node));
        }
    };
    timers_.for_each(visit_node);
    if (system_timers_ != nullptr) {
        system_timers_->heap().for_each(visit_node);
    }
    const auto visit_ready = [&](operation& op) {
        if (op.kind() == node_kind::entry) {
            visit({"entry", "", -1});
        } else if (op.kind() == node_kind::timer || op.kind() == node_kind::local_timer) {
            visit_timer(op);
        } else if (auto& io = static_cast<io_operation&>(op); io.list_next_ == nullptr) {
            visit_io(io);  // the engine has visited the others
        }
    };
    engine_->for_each_descriptor([&](fd_slot& slot) {
        if (slot.detached != nullptr) {
            visit_io(*slot.detached);
        }
    });
    ready_.for_each(visit_ready);
    after_poll_.for_each(visit_ready);
}

void loop::forget_everything() noexcept {
    const auto forget = [this](operation& op) {
        if (op.kind() == node_kind::entry) {
            static_cast<entry&>(op).state_.store(entry::idle, std::memory_order_relaxed);
        } else if (op.kind() == node_kind::io) {
            engine_->forget(static_cast<io_operation&>(op));
        }
    };
    for (queue_node* node = inbox_.take(); node != nullptr; node = inbox::next(*node)) {
        if (node->kind() == node_kind::entry || node->kind() == node_kind::io) {
            forget(static_cast<operation&>(*node));
        } else if (node->kind() == node_kind::io_stop) {
            stoppable_io::of(*node).stop_posted_ = false;
        } else if (node->kind() == node_kind::timer_command) {
            detail::owner_of<&timer::command_>(static_cast<timer::command_node&>(*node))
                .wanted_ns_.store(timer::no_command, std::memory_order_relaxed);
        }
    }
    while (!ready_.empty()) {
        forget(ready_.pop());
    }
    while (!after_poll_.empty()) {
        forget(after_poll_.pop_front());
    }
    engine_->for_each_operation([this](io_operation& op) { engine_->forget(op); });
    for (loop_notice** const first : {&residents_, &told_of_end_, &told_of_next_run_}) {
        while (*first != nullptr) {
            give_notice(*first, &loop_notice::on_lost_);
        }
    }
    if (system_timers_ != nullptr) {
        system_timers_->close();
    }
    while (!timers_.empty()) {
        timers_.erase(timers_.last());
    }
    while (system_timers_ != nullptr && !system_timers_->heap().empty()) {
        system_timers_->heap().erase(system_timers_->heap().last());
    }
}

void loop::after_fork_in_child() {
    process_mark_ = kernel::process_mark();
    embedded_ = false;
    embedding_ = nullptr;  // its timerfd is the parent's
    const char* const cannot = "the loop cannot be made anew after fork()";
    if (auto failure = engine_->rebuild_after_fork()) {
        raise(cannot, failure);
    }
    leases_->after_fork_in_child();
    give_up_away();
    // The loop's thread is in the child only if it is the one that forked, in a callback.
    running_.store(on_thread(), std::memory_order_relaxed);
    if (on_thread()) {
        const bool claimed = engine_->claim();
        EDDY_ASSERT(claimed, "an engine that was just made belongs to another thread");
    }
    if (system_timers_ != nullptr) {
        system_timers_->after_fork_in_child();
    }
}

}  // namespace eddy
