// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "driver/options.hpp"
#include "load/connections.hpp"

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

inline std::string connections_title(unsigned n) {
    return std::to_string(n) + (n == 1 ? " connection" : " connections");
}

inline std::string message_title(const load_shape& m) {
    const std::string size = m.bytes == 4096 ? "4 KiB" : std::to_string(m.bytes) + " B";
    return size + (m.pipeline == 1 ? "" : ", " + std::to_string(m.pipeline) + " pipelined");
}

}  // namespace bench
