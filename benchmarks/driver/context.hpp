#pragma once

#include "driver/options.hpp"
#include "driver/progress.hpp"
#include "driver/results.hpp"

namespace bench {

/// What every suite is given.
struct context {
    const options& chosen;
    progress& shown;
    results& found;
};

}  // namespace bench
