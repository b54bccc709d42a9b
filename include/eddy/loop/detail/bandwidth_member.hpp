// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/assert.hpp>
#include <eddy/base/config.hpp>
#include <eddy/loop/detail/bandwidth_pass.hpp>
#include <eddy/loop/loop.hpp>

#include <cstddef>
#include <cstdint>

namespace eddy {

class bandwidth_group;

/// A member of a bandwidth_group, which chooses between its members: an fd_watch or a
/// bandwidth_share. Outside a group, a member only counts bytes. Thread: the loop's.
class EDDY_API bandwidth_member {
public:
    bandwidth_member(const bandwidth_member&) = delete;
    bandwidth_member& operator=(const bandwidth_member&) = delete;

    /// Adds to the bytes that this member has moved.
    void moved(std::size_t bytes) noexcept;
    /// Returns the sum of everything that moved() was given.
    std::uint64_t bytes_moved() const noexcept { return bytes_moved_; }

protected:
    bandwidth_member() noexcept = default;
    /// Precondition: the member is in no group.
    virtual ~bandwidth_member() {
        EDDY_ASSERT(group_ == nullptr, "a member of a bandwidth group was destroyed");
    }

    /// Called when the member has been added to a group of the loop `home`.
    virtual void on_join(loop& home, priority_level priority) noexcept = 0;
    /// Called when the member has the turn that it asked for. It may leave the group inside this
    /// call, and may be destroyed.
    virtual void on_turn() noexcept = 0;
    /// Called when the member has left the group while it asked for a turn, which it will not get.
    virtual void on_leave() noexcept = 0;

    bool in_group() const noexcept { return group_ != nullptr; }
    bool asks_for_turn() const noexcept { return asks_; }
    /// Precondition: the member is in a group and does not ask already.
    void ask_for_turn() noexcept;
    void withdraw_turn() noexcept;
    void leave_group() noexcept;

private:
    bandwidth_group* group_ = nullptr;
    std::uint64_t bytes_moved_ = 0;
    detail::bandwidth_pass pass_;
    std::uint32_t weight_ = 1;
    bool asks_ = false;

    friend class bandwidth_group;
};

}  // namespace eddy
