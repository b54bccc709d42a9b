// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/loop/detail/bandwidth_member.hpp>
#include <eddy/loop/loop.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace eddy {

/// A group of watches and streams of one priority that share their loop's time by bytes moved.
/// Among the ready members, the one that has moved the fewest bytes by its weight goes first. With
/// weights of 3 and 1 and both always ready, the first moves three quarters of all bytes.
///
///     bandwidth_group group(loop);
///     group.add(watch, 3);               // an fd_watch, whose callback calls moved()
///     bandwidth_share share(group, 1);   // for senders: see in_turn()
///
/// A member should move a bounded amount in its turn: the group chooses between members, it does
/// not interrupt them. An idle member saves up at most `credit` bytes by weight.
///
/// Thread: the loop's. Lifetime: all members must have left before the group is destroyed. A watch
/// leaves when it is removed or destroyed, a share when it is destroyed.
class EDDY_API bandwidth_group {
public:
    explicit bandwidth_group(loop& home, priority_level priority = default_priority,
                             std::size_t credit = std::size_t{256} * 1024);
    ~bandwidth_group();
    bandwidth_group(const bandwidth_group&) = delete;
    bandwidth_group& operator=(const bandwidth_group&) = delete;

    /// Adds a member; a watch gets the priority of the group. Throws std::bad_alloc.
    /// Precondition: the member is in no group, and `weight` is not 0.
    void add(bandwidth_member& member, std::uint32_t weight = 1);
    /// Removes a member, whose next event is delivered without the group.
    void remove(bandwidth_member& member) noexcept;

    loop& home() const noexcept { return home_; }
    std::size_t size() const noexcept { return size_; }

private:
    static bool behind(const bandwidth_member* a, const bandwidth_member* b) noexcept;
    void offer(bandwidth_member& member) noexcept;
    void withdraw(bandwidth_member& member) noexcept;
    void charge(bandwidth_member& member, std::size_t bytes) noexcept;
    void choose() noexcept;

    loop& home_;
    std::size_t credit_;
    std::size_t size_ = 0;
    detail::bandwidth_pass pass_;             ///< of the member that was chosen last
    std::vector<bandwidth_member*> offered_;  ///< a heap, with the next member in front
    entry turn_;
    bool* gone_ = nullptr;  ///< while a member runs: set if the group is destroyed

    friend class bandwidth_member;
};

}  // namespace eddy
