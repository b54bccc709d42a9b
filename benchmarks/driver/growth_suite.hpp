// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "driver/context.hpp"

namespace bench {

/// Something that is measured for more and more of something else.
struct growth {
    std::string title;
    std::string metric;
    std::string of;  // what there is more and more of
    std::vector<unsigned> counts;
};

/// What a request costs while there are more and more connections, and what a timer costs while
/// there are more and more timers.
void measure_growth(context& c);

growth connection_growth(bool quick);
growth timer_growth(bool quick);

/// The name of the case with so many of them.
std::string growth_case(const growth& g, unsigned count);

}  // namespace bench
