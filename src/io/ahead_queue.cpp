// SPDX-License-Identifier: Apache-2.0

// Gets items ahead of demand, gives them to waiters, and pauses when enough are stored.
#include <eddy/io/detail/ahead/ahead_queue.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace eddy::detail {

template <class Source>
ahead_queue<Source>::ahead_queue(loop& home, const io_request& request, std::size_t capacity)
    : home_(home),
      request_(request),
      operation_(&on_complete),
      capacity_(std::max<std::size_t>(capacity, 1)),
      store_(capacity_) {}

template <class Source>
auto ahead_queue<Source>::make(loop& home, const io_request& request, std::size_t capacity)
    -> pointer {
    return pointer(new ahead_queue(home, request, capacity));
}

template <class Source>
void ahead_queue<Source>::leave::operator()(ahead_queue* queue) const noexcept {
    ++queue->inside_;
    queue->left_ = true;
    queue->store_.clear();
    queue->end(io_result::system_error(ECANCELED), false);
    if (queue->operation_.pending()) {
        queue->home_.cancel(queue->operation_);
    }
    --queue->inside_;
    queue->delete_if_left();
}

template <class Source>
void ahead_queue<Source>::take(waiter& w) noexcept {
    ++inside_;
    bool taken = false;
    while (!taken && store_.size() != 0) {
        item next = store_.pop();
        get_if_wanted();
        taken = w.on_result_(w, std::move(next), io_result::value(1), false);
    }
    if (taken) {
        // The waiter may be gone.
    } else if (const auto ended = std::exchange(end_, std::nullopt)) {
        w.on_result_(w, item(), *ended, false);
    } else {
        wait(w);
        get_if_wanted();
    }
    --inside_;
    delete_if_left();
}

template <class Source>
inline void ahead_queue<Source>::leave_line(waiter& w) noexcept {
    w.waiting_ = false;
    (w.previous_ == nullptr ? first_ : w.previous_->next_) = w.next_;
    (w.next_ == nullptr ? last_ : w.next_->previous_) = w.previous_;
}

template <class Source>
void ahead_queue<Source>::remove(waiter& w) noexcept {
    if (w.waiting_) {
        leave_line(w);
    }
}

template <class Source>
inline auto ahead_queue<Source>::pop_waiter() noexcept -> waiter* {
    waiter* const front = first_;
    if (front != nullptr) {
        leave_line(*front);
    }
    return front;
}

template <class Source>
void ahead_queue<Source>::get_if_wanted() noexcept {
    const bool room = store_.size() <= capacity_ / 2;
    if (!operation_.pending() && !left_ && !telling_ && !end_ && (first_ != nullptr || room)) {
        pausing_ = false;
        home_.start(operation_, request_);
    }
}

template <class Source>
void ahead_queue<Source>::pause_if_full() noexcept {
    if (store_.size() >= capacity_ && operation_.pending() && !std::exchange(pausing_, true)) {
        home_.cancel(operation_);
    }
}

template <class Source>
void ahead_queue<Source>::on_complete(io_operation& op) noexcept {
    auto& self = owner_of<&ahead_queue::operation_>(static_cast<typename Source::operation&>(op));
    const io_result result = op.result();
    // The common case: an item for a waiter, and more will come. The pending operation keeps the
    // queue, so nothing is left to do, whatever the waiter does.
    if (waiter* const first = self.first_;
        first != nullptr && op.more() && Source::has_item(result)) {
        self.leave_line(*first);
        if (!first->on_result_(*first, Source::take(self.operation_), result, false)) {
            self.take(*first);
        }
        return;
    }
    ++self.inside_;
    self.completed();
    --self.inside_;
    self.delete_if_left();
}

template <class Source>
void ahead_queue<Source>::completed() noexcept {
    const io_result result = operation_.result();
    const bool goes_on = Source::has_item(result) || operation_.more();
    if (goes_on) {
        deliver();
        pause_if_full();
    } else if (!pausing_ || !operation_.was_canceled()) {
        end(result, operation_.was_canceled());
        return;
    }
    if (operation_.pending()) {
        return;
    }
    if (operation_.lost_descriptor()) {  // closed while paused: the waiters came before
        end(io_result::system_error(ECANCELED), false);
    } else {
        get_if_wanted();
    }
}

/// Handles a result that is not the last: an item, or an error after which the operation continues.
template <class Source>
void ahead_queue<Source>::deliver() noexcept {
    const io_result result = operation_.result();
    item got = result ? Source::take(operation_) : item();
    if (left_) {
        return;
    }
    if (waiter* const next = pop_waiter()) {
        if (!next->on_result_(*next, std::move(got), result, false)) {
            take(*next);
        }
    } else if (result) {
        store_.push(std::move(got));
    }
}

/// Ends the waits of all who wait now. Those who wait again meanwhile do not get this end, and no
/// operation is started for them before it is delivered to all.
template <class Source>
void ahead_queue<Source>::end(io_result result, bool loop_ends) noexcept {
    if (first_ == nullptr) {
        if (Source::end_is_told_once && !left_ && !loop_ends) {
            end_ = result;
        }
        return;
    }
    const unsigned round = ++round_;
    const bool outermost = !std::exchange(telling_, true);
    while (first_ != nullptr && first_->round_ < round) {
        waiter& next = *pop_waiter();
        next.on_result_(next, item(), result, loop_ends);
    }
    telling_ = !outermost;
    if (first_ != nullptr) {
        get_if_wanted();
    }
}

template <class Source>
void ahead_queue<Source>::delete_if_left() noexcept {
    if (left_ && inside_ == 0 && !operation_.pending()) {
        delete this;
    }
}

template class ahead_queue<connections_ahead>;
template class ahead_queue<bytes_ahead>;

}  // namespace eddy::detail
