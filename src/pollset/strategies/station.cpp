// SPDX-License-Identifier: Apache-2.0

// Links sleeping workers into lists, and stations into the depot that owns them.
#include "pollset/strategies/station.hpp"

namespace eddy::detail {

void worker_list::push_back(pollset_worker& w) noexcept {
    w.next_waiting_ = nullptr;
    w.prev_waiting_ = tail_;
    (tail_ != nullptr ? tail_->next_waiting_ : head_) = &w;
    tail_ = &w;
}

void worker_list::erase(pollset_worker& w) noexcept {
    (w.prev_waiting_ != nullptr ? w.prev_waiting_->next_waiting_ : head_) = w.next_waiting_;
    (w.next_waiting_ != nullptr ? w.next_waiting_->prev_waiting_ : tail_) = w.prev_waiting_;
}

station_depot::~station_depot() {
    while (head_ != nullptr) {
        drop(*head_);
    }
}

station& station_depot::keep(std::unique_ptr<station> s) noexcept {
    station& kept = *s.release();
    kept.next_ = head_;
    if (head_ != nullptr) {
        head_->prev_ = &kept;
    }
    head_ = &kept;
    return kept;
}

void station_depot::drop(station& s) noexcept {
    (s.prev_ != nullptr ? s.prev_->next_ : head_) = s.next_;
    if (s.next_ != nullptr) {
        s.next_->prev_ = s.prev_;
    }
    delete &s;
}

}  // namespace eddy::detail
