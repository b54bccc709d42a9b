// SPDX-License-Identifier: Apache-2.0

// Merges the commands that any thread gives to a watch, and applies them on the loop's thread.
#include <eddy/watch/watch.hpp>

#include "watch/dispatch.hpp"

namespace eddy {

void watch::leave_commands() noexcept {
    EDDY_ASSERT(removed_ || command_.posted() ||
                    (commands_.load(std::memory_order_relaxed) & posted_bit) == 0,
                "a watch was destroyed while another thread was commanding it");
    if (command_.posted()) {
        home_.disarm(command_);
    }
}

void watch::set_priority(priority_level priority) noexcept {
    EDDY_ASSERT(priority < priority_count, "a priority is 0 to 63");
    command(priority_bit | std::uint64_t{priority} << priority_shift);
}

void watch::change(std::uint32_t value) noexcept {
    command(change_bit | std::uint64_t{value} << change_shift);
}

void watch::command(std::uint64_t wanted) noexcept {
    if (!on_thread()) {
        post(wanted);
        return;
    }
    take_posted();  // earlier commands of other threads come first
    apply(wanted);
}

std::uint64_t watch::merged(std::uint64_t before, std::uint64_t wanted) noexcept {
    if ((wanted & (arm_bit | disarm_bit)) != 0) {
        before &= ~(arm_bit | disarm_bit);
    }
    if ((wanted & priority_bit) != 0) {
        before &= ~(std::uint64_t{priority_count - 1} << priority_shift);
    }
    if ((wanted & change_bit) != 0) {
        before &= ~(std::uint64_t{UINT32_MAX} << change_shift);
    }
    return before | wanted | posted_bit;
}

/// Merges `wanted` into the posted commands, the first of which posts the entry. Thread: any.
void watch::post(std::uint64_t wanted) noexcept {
    std::uint64_t before = commands_.load(std::memory_order_relaxed);
    do {
        if ((before & removal_bit) != 0) {
            return;  // only on_removed follows a removal
        }
        // acq_rel: pairs with on_command(). The thread that sets posted_bit may post the entry, as
        // the loop has let go of it.
    } while (!commands_.compare_exchange_weak(
        before, merged(before, wanted), std::memory_order_acq_rel, std::memory_order_relaxed));
    if ((before & posted_bit) == 0) {
        home_.post(command_);
    }
}

/// Applies posted commands whose entry is still on its way.
void watch::take_posted() noexcept {
    std::uint64_t word = commands_.load(std::memory_order_relaxed);
    if ((word & ~posted_bit) == 0 || removing_) {
        return;
    }
    // acq_rel: pairs with post(), whose values this sees.
    word = commands_.fetch_and(posted_bit | removal_bit, std::memory_order_acq_rel);
    apply(word);
}

void watch::on_command() noexcept {
    do_not_count();
    std::uint64_t word = commands_.load(std::memory_order_relaxed);
    std::uint64_t after = 0;
    do {
        // A removal stays, so that no thread posts the entry of a watch that is about to go.
        after = (word & removal_bit) != 0 ? removal_bit | posted_bit : 0;
        // acq_rel: pairs with post(), whose values this sees, and which may post the entry again.
    } while (!commands_.compare_exchange_weak(word, after, std::memory_order_acq_rel,
                                              std::memory_order_relaxed));
    removal_taken_ = (word & removal_bit) != 0;
    apply(word);
    finish_removal();
}

void watch::apply(std::uint64_t wanted) noexcept {
    if (removing_) {
        return;
    }
    if ((wanted & removal_bit) != 0) {
        begin_removal();
        return;
    }
    if ((wanted & change_bit) != 0) {
        changed(static_cast<std::uint32_t>(wanted >> change_shift));
    }
    if ((wanted & priority_bit) != 0) {
        priority_ = static_cast<priority_level>(wanted >> priority_shift & (priority_count - 1));
        reprioritise(priority_);
    }
    const bool arms = (wanted & arm_bit) != 0;
    if (arms == armed_ || (wanted & (arm_bit | disarm_bit)) == 0) {
        return;
    }
    armed_ = arms;
    if (calling()) {
        return;  // the reaction decides
    }
    if (arms) {
        start(arming::look);
    } else {
        stop();
    }
}

void watch::begin_removal() noexcept {
    removing_ = true;
    if (armed_ && !calling()) {
        stop();
    }
    armed_ = false;
    // acq_rel: as in post(). If another thread has just set posted_bit, the removal waits for the
    // entry that this thread is posting.
    const auto before = commands_.fetch_or(removal_bit | posted_bit, std::memory_order_acq_rel);
    if ((before & posted_bit) == 0) {
        home_.post(command_);
    }
}

void watch::finish_removal() noexcept {
    if (!removal_taken_ || removed_ || !quiet()) {
        return;
    }
    removed_ = true;
    removed();
}

void watch::dispatch() noexcept { dispatch_as(*this); }

void watch::react(reaction wish) noexcept {
    if (removing_) {
        return;  // on_removed follows
    }
    EDDY_ASSERT(wish != reaction::destroyed,
                "a callback says that it has destroyed its watch, which is alive");
    switch (wish) {
        case reaction::rearm:
        case reaction::again:
        case reaction::requeue:
            armed_ = true;
            break;
        case reaction::disarm:
            armed_ = false;
            break;
        case reaction::remove:
            begin_removal();
            break;
        case reaction::leave:
        case reaction::destroyed:
            break;
    }
    if (armed_) {
        start(wish == reaction::requeue ? arming::requeue : arming::look);
    }
}

}  // namespace eddy
