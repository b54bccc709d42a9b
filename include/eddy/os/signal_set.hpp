// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <bit>
#include <concepts>
#include <csignal>
#include <cstdint>

namespace eddy {

/// A set of signals. Numbers that are no signals, and those that the C library keeps for itself (32
/// and 33), are refused.
class signal_set {
public:
    constexpr signal_set() noexcept = default;
    /// Throws std::system_error with `invalid_argument` if a number is refused.
    template <std::same_as<int>... More>
    signal_set(int first, More... more) {  // no initializer_list: g++ 12 refuses it after co_await
        add(first);
        (add(more), ...);
    }
    EDDY_API explicit signal_set(const sigset_t& native) noexcept;

    EDDY_API static bool valid(int signum) noexcept;

    /// Adds a signal. Throws std::system_error with `invalid_argument` if the number is refused.
    EDDY_API signal_set& add(int signum);
    EDDY_API signal_set& remove(int signum);
    bool contains(int signum) const noexcept {
        return signum >= 1 && signum <= 64 && (bits_ & bit(signum)) != 0;
    }
    bool empty() const noexcept { return bits_ == 0; }
    /// True if the set has all of `others`.
    bool includes(signal_set others) const noexcept { return (others.bits_ & ~bits_) == 0; }

    EDDY_API sigset_t native() const noexcept;
    operator sigset_t() const noexcept { return native(); }

    /// Calls `visit(int signum)` for each signal, in ascending order.
    template <class Visitor>
    void for_each(Visitor&& visit) const {
        for (std::uint64_t left = bits_; left != 0; left &= left - 1) {
            visit(std::countr_zero(left) + 1);
        }
    }

    friend signal_set operator|(signal_set a, signal_set b) noexcept {
        a.bits_ |= b.bits_;
        return a;
    }
    friend signal_set operator-(signal_set a, signal_set b) noexcept {
        a.bits_ &= ~b.bits_;
        return a;
    }
    friend bool operator==(signal_set, signal_set) noexcept = default;

private:
    static constexpr std::uint64_t bit(int signum) noexcept {
        return std::uint64_t{1} << static_cast<unsigned>(signum - 1);
    }

    std::uint64_t bits_ = 0;
};

}  // namespace eddy
