// SPDX-License-Identifier: Apache-2.0

// Keeps the waits of a share in order, and calls one of them per turn.

#include <eddy/loop/detail/bandwidth_share.hpp>

#include <eddy/base/assert.hpp>

#include <utility>

namespace eddy {

void turn_wait::cancel() noexcept {
    if (share_ != nullptr) {
        share_->cancel(*this);
    }
}

bandwidth_share::bandwidth_share(bandwidth_group& group, std::uint32_t weight)
    : home_(group.home()) {
    group.add(*this, weight);
}

bandwidth_share::~bandwidth_share() {
    EDDY_ASSERT(first_ == nullptr, "a bandwidth share was destroyed while somebody waits for it");
    leave_group();
}

void bandwidth_share::on_join(loop&, priority_level) noexcept {}

void bandwidth_share::wait(turn_wait& w) noexcept {
    EDDY_ASSERT(!w.pending(), "a wait was started that is pending already");
    EDDY_ASSERT(in_group(), "somebody waits for a share that was removed from its group");
    w.share_ = this;
    w.next_ = nullptr;
    turn_wait** last = &first_;
    while (*last != nullptr) {
        last = &(*last)->next_;
    }
    *last = &w;
    if (!asks_for_turn()) {
        ask_for_turn();
    }
}

void bandwidth_share::cancel(turn_wait& w) noexcept {
    turn_wait** place = &first_;
    while (*place != &w) {
        place = &(*place)->next_;
    }
    *place = w.next_;
    w.share_ = nullptr;
    if (first_ == nullptr) {
        withdraw_turn();
    }
}

void bandwidth_share::on_turn() noexcept {
    turn_wait& w = *std::exchange(first_, first_->next_);
    w.share_ = nullptr;
    if (first_ != nullptr) {
        ask_for_turn();
    }
    w.on_turn_(w);
}

void bandwidth_share::on_leave() noexcept {
    EDDY_ASSERT(first_ == nullptr, "a bandwidth share was removed while somebody waits for it");
}

}  // namespace eddy
