// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/loop/bandwidth_group.hpp>
#include <eddy/loop/detail/bandwidth_member.hpp>

#include <cstdint>

namespace eddy {

class bandwidth_share;

/// A wait for the turn of a share, owned by its user. Thread: the loop's.
class turn_wait {
public:
    using callback = void (*)(turn_wait&) noexcept;

    /// `on_turn` may start the wait again or destroy it.
    explicit turn_wait(callback on_turn) noexcept : on_turn_(on_turn) {}
    ~turn_wait() { cancel(); }
    turn_wait(const turn_wait&) = delete;
    turn_wait& operator=(const turn_wait&) = delete;

    bool pending() const noexcept { return share_ != nullptr; }
    /// Ends a pending wait without calling `on_turn`.
    EDDY_API void cancel() noexcept;

private:
    callback on_turn_;
    bandwidth_share* share_ = nullptr;
    turn_wait* next_ = nullptr;

    friend class bandwidth_share;
};

/// A part of the bandwidth of a group, for one stream or several. Senders wait for its turn with
/// in_turn(), which also counts the bytes that they move.
///
/// Thread: the loop's, or any while the loop does not run. Lifetime: the share must outlive its
/// waits, and the group must outlive the share.
class EDDY_API bandwidth_share final : public bandwidth_member {
public:
    /// Throws std::bad_alloc. Precondition: `weight` is not 0.
    explicit bandwidth_share(bandwidth_group& group, std::uint32_t weight = 1);
    ~bandwidth_share() override;

    loop& home() const noexcept { return home_; }
    /// Waits for the turn of this share: first come, first served. The callback is never called
    /// inside this call. Precondition: `w` is not pending.
    void wait(turn_wait& w) noexcept;

private:
    void on_join(loop& home, priority_level priority) noexcept override;
    void on_turn() noexcept override;
    void on_leave() noexcept override;
    void cancel(turn_wait& w) noexcept;

    loop& home_;
    turn_wait* first_ = nullptr;

    friend class turn_wait;
};

}  // namespace eddy
