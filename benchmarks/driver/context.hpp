// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/clock.hpp"
#include "driver/budget.hpp"
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
    budget time = {};

    void begin_part(std::string_view part, std::size_t cases) {
        time = budget(part, cases, chosen.quick, now_ns() - begin_ns);
    }
    void begin_case(const std::string& what, const std::string& case_name) {
        time.begin_case();
        shown.phase(what + " " + case_name);
    }
};

}  // namespace bench
