#pragma once

#include <cstdint>

#include "common/clock.hpp"
#include "driver/options.hpp"
#include "driver/progress.hpp"
#include "driver/results.hpp"

namespace bench {

/// What every suite is given.
struct context {
    const options& chosen;
    progress& shown;
    results& found;
    std::int64_t begin_ns = now_ns();

    /// A busy machine must not make a quick run long: after two minutes every case does with the
    /// rounds that it has, if it has enough.
    bool enough_rounds(unsigned done) const noexcept {
        constexpr std::int64_t patience_ns = 120'000'000'000;
        return chosen.quick && done >= 1 && now_ns() - begin_ns > patience_ns;
    }
};

}  // namespace bench
