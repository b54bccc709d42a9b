// SPDX-License-Identifier: Apache-2.0

// The cases of the suite `echo`.
#pragma once

#include <array>
#include <vector>

#include "load/connections.hpp"
#include "measure/options.hpp"

namespace bench {

inline constexpr std::array<unsigned, 3> echo_connections{1, 50, 500};

/// The kinds of messages; the number of connections is set for each case.
inline std::vector<load_shape> echo_messages() {
    return {{1, 64, 1}, {1, 4096, 1}, {1, 64, 16}, {1, 4096, 16}};
}

/// One kind of message with each number of connections, as far as they are wanted.
inline std::vector<load_shape> echo_shapes(const load_shape& message, const options& chosen) {
    std::vector<load_shape> all;
    if (chosen.quick && message.pipeline > 1 && chosen.cases.empty()) return all;
    for (unsigned connections : echo_connections) {
        const load_shape shape{connections, message.bytes, message.pipeline};
        if (chosen.wants_case(shape.name())) all.push_back(shape);
    }
    return all;
}

}  // namespace bench
