// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "faults/documented_errors.hpp"

#include <cstdint>
#include <string>
#include <system_error>

namespace eddy::test {

/// One fault, and what may come of it.
struct planned_fault {
    enum class how : std::uint8_t { once, from_then_on, shorter };

    const fault_kind* kind;
    documented_error expected;  ///< of `shorter`: none
    how often;
    unsigned nth;

    void begin() const noexcept;
    /// For EDDY_FAULT in the environment, which has only this one tried: "recv:ENOMEM:once:2".
    std::string key() const;
    std::string words() const;

    /// True: the fault itself, as it is told.
    bool is(std::error_code error) const noexcept;
    /// True also for what a peer of the one that was hit sees.
    bool explains(std::error_code error) const noexcept;
    /// Why a scenario may succeed; null: it may not.
    const char* unseen() const noexcept;
};

}  // namespace eddy::test
