// SPDX-License-Identifier: Apache-2.0
#include "driver/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace bench {

namespace {

constexpr std::size_t value_width = 9;
constexpr std::size_t ratio_width = 7;
constexpr std::size_t spread_width = 6;
constexpr std::size_t title_indent = 3;

std::string format(const char* how, double value) {
    char text[64];
    std::snprintf(text, sizeof text, how, value);
    return text;
}

std::string fill(const std::string& text, std::size_t width) {
    return std::string(width - std::min(width, text.size()), ' ') + text;
}

/// At least one blank in front: a cell that is too long must not touch its neighbour.
std::string right(const std::string& text, std::size_t width) {
    return fill(text, std::max(width, text.size() + 1));
}

std::string left(const std::string& text, std::size_t width) {
    return text + std::string(width - std::min(width, text.size()), ' ');
}

std::string format_ratio(double value) {
    return format(value < 10 ? "%.3f" : value < 100 ? "%.1f" : "%.0f", value);
}

std::size_t width_of(const table_column& c) {
    return value_width + (c.ratios ? ratio_width + spread_width : 0);
}

std::string cells(const measurement* m, const table_column& c) {
    const std::size_t ratios = c.ratios ? ratio_width + spread_width : 0;
    if (m == nullptr || !m->value.valid())
        return left(fill("n/a", value_width), value_width + ratios);
    std::string text = right(format_value(m->value.median), value_width);
    if (c.ratios) {
        text += right(m->ratio.valid() ? format_ratio(m->ratio.median) : "-", ratio_width);
        text += right(m->ratio.valid() ? format_ratio(m->ratio.spread()) : "-", spread_width);
    }
    return fill(text, width_of(c));
}

std::string heads(const table_column& c) {
    std::string text = right(c.unit, value_width);
    // The sign is two bytes wide but one column.
    if (c.ratios) text += right("ratio", ratio_width) + right("\u00b1", spread_width + 1);
    return fill(text, width_of(c) + (c.ratios ? 1 : 0));
}

}  // namespace

std::string format_value(double value) {
    const double size = std::fabs(value);
    if (size >= 100) return format("%.0f", value);
    if (size >= 10) return format("%.1f", value);
    return format("%.2f", value);
}

void print_table(const results& all, const std::string& suite, const std::string& title,
                 const std::vector<std::string>& subjects, std::vector<table_column> columns) {
    std::erase_if(columns, [&](const table_column& c) {
        return all.find(suite, c.case_name, subjects[0], c.metric) == nullptr;
    });
    if (columns.empty()) return;
    std::size_t name_width = 0;
    for (const std::string& s : subjects) name_width = std::max(name_width, s.size());
    std::string line1;
    std::string line2 = left("", name_width);
    std::size_t begin = name_width;
    for (const table_column& c : columns) {
        // A title may reach over the columns to its right that have none.
        if (!c.title.empty()) line1 = left(line1, begin + title_indent) + c.title;
        line2 += heads(c);
        begin += width_of(c);
    }
    std::printf("\n%s\n%s\n%s\n", title.c_str(), line1.c_str(), line2.c_str());
    std::map<std::string, std::string> reasons;  // and who has them
    for (const std::string& s : subjects) {
        std::string line = left(s, name_width);
        std::string why;
        for (const table_column& c : columns) {
            const measurement* m = all.find(suite, c.case_name, s, c.metric);
            line += cells(m, c);
            if (m != nullptr && !m->missing.empty()) why = m->missing;
        }
        if (!why.empty()) reasons[why] += (reasons[why].empty() ? "" : ", ") + s;
        line.erase(line.find_last_not_of(' ') + 1);
        std::printf("%s\n", line.c_str());
    }
    for (const auto& [why, who] : reasons) std::printf("n/a: %s (%s)\n", who.c_str(), why.c_str());
    std::fflush(stdout);
}

}  // namespace bench
