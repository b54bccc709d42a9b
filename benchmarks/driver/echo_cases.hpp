#pragma once

#include <array>
#include <string>
#include <vector>

#include "load/connections.hpp"

namespace bench {

inline constexpr std::array<unsigned, 3> echo_connections{1, 50, 500};

/// The kinds of messages; the number of connections is set for each case.
inline std::vector<load_shape> echo_messages() {
    return {{1, 64, 1}, {1, 4096, 1}, {1, 64, 16}, {1, 4096, 16}};
}

inline std::string connections_title(unsigned n) {
    return std::to_string(n) + (n == 1 ? " connection" : " connections");
}

inline std::string message_title(const load_shape& m) {
    const std::string size = m.bytes == 4096 ? "4 KiB" : std::to_string(m.bytes) + " B";
    return size + (m.pipeline == 1 ? "" : ", " + std::to_string(m.pipeline) + " pipelined");
}

}  // namespace bench
