// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

namespace eddy::detail {

/// The progress of a member of a bandwidth_group: bytes divided by its weight. It does not wrap
/// before 2^64 bytes, so that a member that was idle for long is still behind the others.
struct bandwidth_pass {
    std::uint64_t whole = 0;
    std::uint32_t fraction = 0;  ///< in units of 2^-32

    static constexpr bandwidth_pass of(std::uint64_t bytes, std::uint32_t weight) noexcept {
        return {bytes / weight, static_cast<std::uint32_t>((bytes % weight << 32U) / weight)};
    }
    constexpr bandwidth_pass& operator+=(const bandwidth_pass& more) noexcept {
        fraction += more.fraction;
        whole += more.whole + (fraction < more.fraction ? 1 : 0);
        return *this;
    }
    /// Returns zero instead of a negative difference.
    constexpr bandwidth_pass minus(const bandwidth_pass& less) const noexcept {
        const std::uint64_t borrowed = fraction < less.fraction ? 1 : 0;
        if (whole < less.whole + borrowed) {
            return {};
        }
        return {whole - less.whole - borrowed, fraction - less.fraction};
    }
    friend constexpr auto operator<=>(const bandwidth_pass&, const bandwidth_pass&) = default;
};

}  // namespace eddy::detail
