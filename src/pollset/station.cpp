#include "pollset/station.hpp"

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

}  // namespace eddy::detail
