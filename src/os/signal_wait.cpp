#include <eddy/os/signal_wait.hpp>

#include <eddy/os/signal_source.hpp>

#include <utility>

namespace eddy {

void detail::signal_wait_list::insert(signal_wait& w) noexcept {
    signal_wait* after = last_;
    while (after != nullptr && after->priority_ > w.priority_) {
        after = after->previous_;
    }
    signal_wait*& link = after != nullptr ? after->next_ : first_;
    w.previous_ = after;
    w.next_ = std::exchange(link, &w);
    (w.next_ != nullptr ? w.next_->previous_ : last_) = &w;
    w.list_ = this;
}

void detail::signal_wait_list::erase(signal_wait& w) noexcept {
    (w.previous_ != nullptr ? w.previous_->next_ : first_) = w.next_;
    (w.next_ != nullptr ? w.next_->previous_ : last_) = w.previous_;
    w.list_ = nullptr;
}

void signal_wait::cancel() noexcept {
    if (!pending()) {
        return;
    }
    list_->erase(*this);
    if (source_ != nullptr) {
        source_->no_longer_wanted(signals_);
    }
}

}  // namespace eddy
