// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "driver/results.hpp"
#include "driver/targets.hpp"

namespace bench {

/// What became of a target.
struct verdict {
    enum class outcome {
        ok,
        missed,         // by more than the noise
        missed_before,  // the other build of --before misses it too
        not_there,      // its suite was measured, but this was not, or could not be
        not_measured,   // nothing of its suite and case was
    };

    target of;
    double measured = 0;
    double before = 0;  // the same of the other build; not a number: there is none
    double noise = 0;   // how far the same program differed from itself, as a share
    outcome how = outcome::not_measured;

    bool fails() const noexcept { return how == outcome::missed || how == outcome::not_there; }
};

/// Which of the targets these results reach.
std::vector<verdict> judge(const results& found, const std::vector<target>& targets);

/// Prints a line for each target that was measured. False: one of them fails, or none was measured.
bool print_check(const std::vector<verdict>& all);

}  // namespace bench
