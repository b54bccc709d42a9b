#include <eddy/async/detail/waiter.hpp>

#include <eddy/base/member.hpp>
#include <eddy/loop/loop.hpp>

namespace eddy::detail {

void waiter::remember_loop() noexcept { home_ = loop::current(); }

void waiter::deliver() noexcept {
    if (home_ != nullptr) {
        home_->post(entry_);
    } else {
        complete_(*this);
    }
}

void waiter::on_entry(entry& e) noexcept {
    waiter& self = owner_of<&waiter::entry_>(e);
    self.complete_(self);
}

void wait_list::push_back(waiter& node) noexcept {
    node.next_ = nullptr;
    node.previous_ = last_;
    (last_ != nullptr ? last_->next_ : first_) = &node;
    last_ = &node;
}

void wait_list::erase(waiter& node) noexcept {
    (node.previous_ != nullptr ? node.previous_->next_ : first_) = node.next_;
    (node.next_ != nullptr ? node.next_->previous_ : last_) = node.previous_;
}

void wait_list::deliver() noexcept {
    while (!empty()) pop_front().deliver();
}

}  // namespace eddy::detail
