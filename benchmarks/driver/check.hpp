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
        missed,        // by more than the noise
        not_there,     // its suite was measured, but this was not, or could not be
        not_measured,  // nothing of its suite and case was
    };

    target of;
    double measured = 0;
    double noise = 0;  // how far the same program differed from itself, as a share
    outcome how = outcome::not_measured;

    bool fails() const noexcept { return how == outcome::missed || how == outcome::not_there; }
};

/// Which of the targets these results reach.
std::vector<verdict> judge(const results& found, const std::vector<target>& targets);

/// A line for each target that was measured. False: one of them fails, or there was none at all.
bool print_check(const std::vector<verdict>& all);

}  // namespace bench
