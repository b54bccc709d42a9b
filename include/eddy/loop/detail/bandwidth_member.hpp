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

/// What a bandwidth_group chooses between: an fd_watch, or a bandwidth_share. Outside a group it
/// only counts bytes. Thread: the loop's.
class EDDY_API bandwidth_member {
public:
    bandwidth_member(const bandwidth_member&) = delete;
    bandwidth_member& operator=(const bandwidth_member&) = delete;

    /// Tells how many bytes it has moved.
    void moved(std::size_t bytes) noexcept;
    /// All that moved() was told.
    std::uint64_t bytes_moved() const noexcept { return bytes_moved_; }

protected:
    bandwidth_member() noexcept = default;
    /// Precondition: it is in no group.
    virtual ~bandwidth_member() {
        EDDY_ASSERT(group_ == nullptr, "a member of a bandwidth group was destroyed");
    }

    /// It was added to a group of this loop.
    virtual void on_join(loop& home, priority_level priority) noexcept = 0;
    /// It is its turn, which it had asked for. It may leave the group, and end, from inside.
    virtual void on_turn() noexcept = 0;
    /// It has left the group while it asked for a turn, which it will not get.
    virtual void on_leave() noexcept = 0;

    bool in_group() const noexcept { return group_ != nullptr; }
    bool asks_for_turn() const noexcept { return asks_; }
    /// Precondition: it is in a group, and does not ask already.
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
