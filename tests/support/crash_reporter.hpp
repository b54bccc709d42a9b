// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace eddy::test {

/// While it lives, a crash or a hang says what was being tried. A hang is what takes longer than a
/// test is patient.
class crash_reporter {
public:
    /// Only the first few hundred characters are kept.
    explicit crash_reporter(std::string_view tried) noexcept;
    ~crash_reporter();
    crash_reporter(const crash_reporter&) = delete;
    crash_reporter& operator=(const crash_reporter&) = delete;
};

}  // namespace eddy::test
