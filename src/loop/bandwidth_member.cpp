// SPDX-License-Identifier: Apache-2.0

// Passes the requests of a member on to its group.
#include <eddy/loop/detail/bandwidth_member.hpp>

#include <eddy/loop/bandwidth_group.hpp>

namespace eddy {

void bandwidth_member::moved(std::size_t bytes) noexcept {
    bytes_moved_ += bytes;
    if (group_ != nullptr) {
        group_->charge(*this, bytes);
    }
}

void bandwidth_member::ask_for_turn() noexcept { group_->offer(*this); }

void bandwidth_member::withdraw_turn() noexcept {
    if (asks_) {
        group_->withdraw(*this);
    }
}

void bandwidth_member::leave_group() noexcept {
    if (group_ != nullptr) {
        group_->remove(*this);
    }
}

}  // namespace eddy
