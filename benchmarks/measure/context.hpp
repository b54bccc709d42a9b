// SPDX-License-Identifier: Apache-2.0

// The surroundings of every suite.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/clock.hpp"
#include "measure/budget.hpp"
#include "measure/options.hpp"
#include "measure/output.hpp"

namespace bench {

struct context {
    const options& chosen;
    output& out;
    std::int64_t begin_ns = now_ns();
    budget time = {};

    void begin_part(std::string_view part, std::size_t cases) {
        time = budget(part, cases, chosen.quick, now_ns() - begin_ns);
    }
    void begin_case(const std::string& what, const std::string& case_name) {
        time.begin_case();
        out.phase(what + " " + case_name);
    }
};

}  // namespace bench
