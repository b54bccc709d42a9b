// SPDX-License-Identifier: Apache-2.0
#include "driver/plot_shares.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "driver/plot_style.hpp"

namespace bench {

namespace {

constexpr double panel_height = 220;
constexpr double axis_width = 34;
constexpr double head = 74;
constexpr double foot = 46;
constexpr double wanted_percent = 75;
constexpr double tolerance_percent = 2;

constexpr const char* tolerated = "#bbf7d0";

const char* colour(const std::string& case_name) {
    if (case_name == "watches") return "#dc2626";
    return case_name == "streams" ? "#2563eb" : "#94a3b8";
}

const char* words(const std::string& case_name) {
    if (case_name == "watches") return "watches in a group, weights 3:1";
    return case_name == "streams" ? "streams in a group, weights 3:1" : "without a group";
}

double y_of(double percent, double top) { return top + (1 - percent / 100) * panel_height; }

void draw_axes(svg& out, const std::string& subject, double left, double top) {
    const double right = left + panel_width - axis_width;
    out.text(left, top - 8, subject, 12, ink, svg::anchor::start, true);
    out.rectangle(left, y_of(wanted_percent + tolerance_percent, top), right - left,
                  2 * tolerance_percent / 100 * panel_height, tolerated);
    for (int percent = 0; percent <= 100; percent += 25) {
        out.line(left, y_of(percent, top), right, y_of(percent, top), grid);
        out.text(left - 5, y_of(percent, top) + 4, std::to_string(percent), 10, pale_ink,
                 svg::anchor::end);
    }
    out.text((left + right) / 2, top + panel_height + 16, "bytes moved by both", 10, pale_ink,
             svg::anchor::middle);
}

void draw_curve(svg& out, const curve& c, double left, double top) {
    const double step = (panel_width - axis_width) / static_cast<double>(c.percents.size());
    const double width = c.case_name == "watches" ? 5 : 2;  // others may lie on it
    for (std::size_t i = 1; i < c.percents.size(); ++i) {
        const double x = left + static_cast<double>(i) * step;
        out.line(x - step, y_of(c.percents[i - 1], top), x, y_of(c.percents[i], top),
                 colour(c.case_name), width);
    }
}

}  // namespace

double draw_shares(svg& out, const std::vector<curve>& curves, double page_left, double top) {
    out.text(page_left, top + 20, "Sharing a loop: what the first of two streams moves, in %", 14,
             ink, svg::anchor::start, true);
    plot_key key(out, page_left, top + 30);
    std::map<std::string, double> panels;  // by subject: its left side
    std::vector<std::string> cases;
    for (const curve& c : curves) {
        if (std::find(cases.begin(), cases.end(), c.case_name) == cases.end()) {
            cases.push_back(c.case_name);
            key.add(colour(c.case_name), words(c.case_name));
        }
        const double left =
            page_left + axis_width + static_cast<double>(panels.size()) * (panel_width + panel_gap);
        if (panels.emplace(c.subject, left).second) draw_axes(out, c.subject, left, top + head);
        draw_curve(out, c, panels[c.subject], top + head);
    }
    key.add(tolerated, "75 %, within 2 points");
    return top + head + panel_height + foot;
}

}  // namespace bench
