// SPDX-License-Identifier: Apache-2.0

// Gives the turn of a group to the member that has made the least progress.
#include <eddy/loop/bandwidth_group.hpp>

#include <eddy/base/assert.hpp>
#include <eddy/base/detail/member.hpp>

#include <algorithm>

namespace eddy {

bandwidth_group::bandwidth_group(loop& home, priority_level priority, std::size_t credit)
    : home_(home), credit_(credit) {
    constexpr auto run = [](entry& e) noexcept {
        detail::owner_of<&bandwidth_group::turn_>(e).choose();
    };
    turn_.set_callbacks(run, run);
    turn_.set_priority(priority);
}

bandwidth_group::~bandwidth_group() {
    EDDY_ASSERT(size_ == 0, "a bandwidth group was destroyed before its members");
    if (gone_ != nullptr) {
        *gone_ = true;
    }
    if (turn_.posted()) {
        home_.disarm(turn_);
    }
}

void bandwidth_group::add(bandwidth_member& member, std::uint32_t weight) {
    EDDY_ASSERT(member.group_ == nullptr && weight != 0, "in a group already, or without weight");
    offered_.reserve(size_ + 1);
    ++size_;
    member.group_ = this;
    member.weight_ = weight;
    member.pass_ = pass_;
    member.on_join(home_, turn_.priority());
}

void bandwidth_group::remove(bandwidth_member& member) noexcept {
    EDDY_ASSERT(member.group_ == this, "a member was removed from a group that it is not in");
    const bool asked = member.asks_;
    member.withdraw_turn();
    member.group_ = nullptr;
    --size_;
    if (asked) {
        member.on_leave();
    }
}

/// Compares members for the standard library's heap, which has the greatest in front.
bool bandwidth_group::behind(const bandwidth_member* a, const bandwidth_member* b) noexcept {
    return a->pass_ > b->pass_;
}

void bandwidth_group::offer(bandwidth_member& member) noexcept {
    const auto earliest = pass_.minus(detail::bandwidth_pass::of(credit_, member.weight_));
    member.pass_ = std::max(member.pass_, earliest);
    member.asks_ = true;
    offered_.push_back(&member);
    std::push_heap(offered_.begin(), offered_.end(), &behind);
    if (!turn_.posted()) {
        home_.post(turn_);
    }
}

void bandwidth_group::withdraw(bandwidth_member& member) noexcept {
    member.asks_ = false;
    std::erase(offered_, &member);
    std::make_heap(offered_.begin(), offered_.end(), &behind);
}

void bandwidth_group::charge(bandwidth_member& member, std::size_t bytes) noexcept {
    member.pass_ += detail::bandwidth_pass::of(bytes, member.weight_);
    if (member.asks_) {
        std::make_heap(offered_.begin(), offered_.end(), &behind);
    }
}

void bandwidth_group::choose() noexcept {
    if (offered_.empty()) {
        return;
    }
    std::pop_heap(offered_.begin(), offered_.end(), &behind);
    bandwidth_member& member = *offered_.back();
    offered_.pop_back();
    member.asks_ = false;
    pass_ = member.pass_;
    bool gone = false;
    gone_ = &gone;
    charge(member, 1);  // else a member that moves nothing would always be first
    member.on_turn();
    if (gone) {
        return;
    }
    gone_ = nullptr;
    if (offered_.empty() || turn_.posted()) {
        return;
    }
    // The turn goes behind the member, which may be ready again: it must be compared with the
    // others. With io_uring, only the kernel's next answer says if it is.
    if (home_.engine() == engine_kind::io_uring) {
        home_.post_next(turn_);
    } else {
        home_.post(turn_);
    }
}

}  // namespace eddy
