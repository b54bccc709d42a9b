// SPDX-License-Identifier: Apache-2.0

// Posted entries, stops, and the inbox through which other threads reach the loop.
#include "engine/engine.hpp"
#include "kernel/fork_mark.hpp"
#include "loop/blocking_call.hpp"
#include "loop/stranded_waits.hpp"
#include "loop/system_timers.hpp"

#include <eddy/loop/detail/stoppable_io.hpp>
#include <eddy/loop/loop.hpp>

#include <utility>

namespace eddy {

void loop::stop() noexcept {
    check_use();
    if (on_thread()) {
        begin_stop();
        return;
    }
    // acq_rel: pairs with take(), which lets go of the node before it clears the state.
    if (stop_state_.exchange(stop_state::posted, std::memory_order_acq_rel) == stop_state::none &&
        inbox_.push(stop_node_)) {
        engine_->wake();
    }
}

/// Takes back a stop that came after the run, so that it does not end the next one. The node stays
/// in the inbox: emptying that here would start I/O on a thread that does not run the loop.
/// Thread: the loop's, while it does not run.
void loop::take_back_stop() noexcept {
    auto expected = stop_state::posted;
    // relaxed: only the state travels; the node still belongs to the inbox.
    stop_state_.compare_exchange_strong(expected, stop_state::taken_back,
                                        std::memory_order_relaxed);
    stopping_ = false;  // the inbox may have been taken since the run
}

inline void loop::queue_entry(entry& e) noexcept {
    ++counters_.posts;
    if (ends()) {
        e.request_cancel();
    }
    if (e.after_poll_) {
        after_poll_.push_back(e);
    } else {
        ready_.push(e);
    }
}

void loop::submit(entry& e, bool after_poll) noexcept {
    check_use();
    EDDY_ASSERT(!e.posted(), "an entry was posted that is posted already");
    e.after_poll_ = after_poll;
    // relaxed: inbox::push() publishes the state to the loop. A cancel() that does not know of the
    // post by other means need not find it.
    e.state_.store(entry::is_posted, std::memory_order_relaxed);
    if (on_thread()) {
        queue_entry(e);
    } else if (inbox_.push(e)) {
        engine_->wake();
    }
}

void loop::post_next(entry& e) noexcept { submit(e, true); }

void loop::hand_over(entry& e) noexcept {
    if (on_thread()) {
        post(e);
        return;
    }
    threads_inside_.fetch_add(1, std::memory_order_relaxed);  // the push publishes it
    post(e);
    // release: pairs with ~loop(), which must not free what wake() uses.
    threads_inside_.fetch_sub(1, std::memory_order_release);
}

void loop::cancel(entry& e) noexcept { e.request_cancel(); }

bool loop::disarm(entry& e) noexcept {
    if (!e.posted()) {
        return false;
    }
#ifndef NDEBUG
    if (!on_thread()) {
        stranded_waits::forget(*this);
    }
#endif
    take_inbox();
    if (e.after_poll_) {
        after_poll_.erase(e);
    } else {
        ready_.erase(e);
    }
    e.state_.store(entry::idle, std::memory_order_relaxed);
    ++entries_done_;
    return true;
}

/// Takes all that other threads have pushed. Nearly always these are ordinary entries of one
/// priority: the newest ones, up to the first different node, are reversed and queued as one list.
void loop::empty_inbox() noexcept {
    quiet_waits_ = 0;
    queue_node* newest = inbox_.take_newest_first();
    if (newest == nullptr) {
        return;
    }
    operation_list alike;
    std::size_t count = 0;
    priority_level priority = default_priority;
    if (newest->kind() == node_kind::entry && !ends()) {
        priority = static_cast<entry&>(*newest).priority();
        while (newest != nullptr && newest->kind() == node_kind::entry) {
            auto& e = static_cast<entry&>(*newest);
            if (e.priority() != priority || e.after_poll_) {
                break;
            }
            newest = inbox::next(e);
            alike.push_front(e);
            ++count;
        }
    }
    for (queue_node* node = inbox::reversed(newest); node != nullptr;) {
        queue_node* const next = inbox::next(*node);
        take(*node);
        node = next;
    }
    if (count != 0) {
        counters_.posts += count;
        ready_.push(std::move(alike), priority);
    }
}

void loop::take(queue_node& node) noexcept {
    switch (node.kind()) {
        case node_kind::entry:
            queue_entry(static_cast<entry&>(node));
            break;
        case node_kind::timer_command: {
            auto& t = detail::owner_of<&timer::command_>(static_cast<timer::command_node&>(node));
            // acq_rel: pairs with tell(). After this the node is free for the next command.
            apply(t, t.wanted_ns_.exchange(timer::no_command, std::memory_order_acq_rel));
            break;
        }
        case node_kind::stop_command:
            // acq_rel: pairs with stop(). The next thread that sets the state may push the node.
            if (stop_state_.exchange(stop_state::none, std::memory_order_acq_rel) ==
                stop_state::posted) {
                begin_stop();
            }
            break;
        case node_kind::io_returned:
            take_back(static_cast<blocking_call&>(node));
            break;
        case node_kind::io:
            begin_queued(static_cast<io_operation&>(node));
            break;
        case node_kind::io_stop:
            stoppable_io::of(node).stop_taken();
            break;
        case node_kind::timer:
        case node_kind::local_timer:
        case node_kind::lease:
            break;  // never in the inbox
    }
}

}  // namespace eddy
