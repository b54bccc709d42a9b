// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "driver/results.hpp"

namespace bench {

struct plot_bar {
    std::string subject;
    summary cost;  // relative to the reference; below 1 is better
};

struct plot_panel {
    std::string title;
    std::vector<plot_bar> bars;
};

struct plot_section {
    std::string title;
    std::vector<plot_panel> panels;
};

/// What is worth a panel, of what was measured.
std::vector<plot_section> plot_sections(const results& all);

}  // namespace bench
