#include <eddy/engine/io_operation.hpp>

namespace eddy {

void io_list::push_back(io_operation& op) noexcept {
    if (head_ == nullptr) {
        op.list_next_ = op.list_prev_ = head_ = &op;
        return;
    }
    io_operation* const tail = head_->list_prev_;
    op.list_next_ = head_;
    op.list_prev_ = tail;
    tail->list_next_ = head_->list_prev_ = &op;
}

void io_list::erase(io_operation& op) noexcept {
    if (op.list_next_ == &op) {
        head_ = nullptr;
    } else {
        op.list_prev_->list_next_ = op.list_next_;
        op.list_next_->list_prev_ = op.list_prev_;
        if (head_ == &op) {
            head_ = op.list_next_;
        }
    }
    op.list_next_ = op.list_prev_ = nullptr;
}

}  // namespace eddy
