#include <eddy/io/detail/accept_queue.hpp>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <utility>

namespace eddy::detail {

accept_queue::accept_queue(loop& home, const descriptor& listener, std::size_t capacity)
    : home_(home),
      request_(accept_multishot(listener)),
      operation_(&on_complete),
      capacity_(std::max<std::size_t>(capacity, 1)),
      ring_(capacity_) {}

accept_queue::pointer accept_queue::make(loop& home, const descriptor& listener,
                                         std::size_t capacity) {
    return pointer(new accept_queue(home, listener, capacity));
}

void accept_queue::leave::operator()(accept_queue* queue) const noexcept {
    ++queue->inside_;
    queue->left_ = true;
    queue->ring_.clear();
    queue->stored_ = 0;
    queue->fail_all(io_result::system_error(ECANCELED), false);
    if (queue->operation_.pending()) {
        queue->home_.cancel(queue->operation_);
    }
    --queue->inside_;
    queue->end_if_left();
}

void accept_queue::take(waiter& w) noexcept {
    ++inside_;
    if (stored_ != 0) {
        unique_fd next = take_stored();
        accept_if_wanted();
        w.on_result_(w, io_result::value(next.release()), false);
    } else {
        w.next_ = nullptr;
        w.previous_ = last_;
        (last_ == nullptr ? first_ : last_->next_) = &w;
        last_ = &w;
        w.waiting_ = true;
        accept_if_wanted();
    }
    --inside_;
    end_if_left();
}

void accept_queue::remove(waiter& w) noexcept {
    if (!std::exchange(w.waiting_, false)) {
        return;
    }
    (w.previous_ == nullptr ? first_ : w.previous_->next_) = w.next_;
    (w.next_ == nullptr ? last_ : w.next_->previous_) = w.previous_;
}

accept_queue::waiter* accept_queue::pop_waiter() noexcept {
    waiter* const front = first_;
    if (front != nullptr) {
        remove(*front);
    }
    return front;
}

void accept_queue::accept_if_wanted() noexcept {
    const bool room = stored_ <= capacity_ / 2;
    if (!operation_.pending() && !left_ && (first_ != nullptr || room)) {
        pausing_ = false;
        home_.start(operation_, request_);
    }
}

void accept_queue::pause_if_full() noexcept {
    if (stored_ >= capacity_ && operation_.pending() && !std::exchange(pausing_, true)) {
        home_.cancel(operation_);
    }
}

void accept_queue::on_complete(io_operation& op) noexcept {
    auto& self = owner_of<&accept_queue::operation_>(op);
    ++self.inside_;
    self.accepted(op.result());
    --self.inside_;
    self.end_if_left();
}

void accept_queue::accepted(io_result result) noexcept {
    if (result || operation_.more()) {
        deliver(result);
        pause_if_full();
    } else if (!pausing_) {
        fail_all(result, operation_.was_canceled());
        return;  // who asks next finds out whether it still fails
    }
    if (operation_.pending()) {
        return;
    }
    if (operation_.lost_descriptor()) {  // closed while it paused: those who wait were there before
        fail_all(io_result::system_error(ECANCELED), false);
    } else {
        accept_if_wanted();
    }
}

void accept_queue::deliver(io_result result) noexcept {
    if (left_) {
        const unique_fd unwanted(result.fd());
    } else if (waiter* const next = pop_waiter()) {
        next->on_result_(*next, result, false);
    } else if (result) {
        keep(unique_fd(result.fd()));
    }
}

void accept_queue::keep(unique_fd fd) noexcept {
    if (stored_ == ring_.size()) {  // the kernel had accepted more when it was told to stop
        try {
            std::vector<unique_fd> larger(ring_.size() * 2);
            std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(oldest_),
                        ring_.end());
            std::move(ring_.begin(), ring_.end(), larger.begin());
            ring_ = std::move(larger);
            oldest_ = 0;
        } catch (const std::exception&) {
            return;  // closes the connection: its peer notices, and nothing leaks
        }
    }
    ring_[(oldest_ + stored_) % ring_.size()] = std::move(fd);
    ++stored_;
}

unique_fd accept_queue::take_stored() noexcept {
    unique_fd taken = std::move(ring_[oldest_]);
    oldest_ = (oldest_ + 1) % ring_.size();
    --stored_;
    return taken;
}

void accept_queue::fail_all(io_result result, bool loop_ends) noexcept {
    // Those who ask again meanwhile are not told of this one.
    waiter* const last = last_;
    for (bool more = last != nullptr; more;) {
        waiter* const next = pop_waiter();
        more = next != nullptr && next != last;
        if (next != nullptr) {
            next->on_result_(*next, result, loop_ends);
        }
    }
}

void accept_queue::end_if_left() noexcept {
    if (left_ && inside_ == 0 && !operation_.pending()) {
        delete this;
    }
}

}  // namespace eddy::detail
