// SPDX-License-Identifier: Apache-2.0
#include "driver/plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "driver/plot_growth.hpp"
#include "driver/plot_panels.hpp"
#include "driver/plot_shares.hpp"
#include "driver/plot_style.hpp"
#include "driver/svg.hpp"

namespace bench {

namespace {

constexpr double margin = 24;
constexpr std::size_t panels_a_row = 3;
constexpr double page_width =
    2 * margin + panels_a_row * panel_width + (panels_a_row - 1) * panel_gap;
constexpr double row_height = 17;
constexpr double bar_height = 11;
constexpr double name_width = 146;
constexpr double value_width = 44;
constexpr double panel_head = 22;
constexpr double panel_foot = 18;
constexpr double section_head = 34;
constexpr double page_head = 74;

constexpr const char* noise = "#fde68a";

const char* colour(std::string_view subject) {
    if (subject.ends_with("_again")) return "#d97706";
    if (subject.starts_with("eddy")) return "#dc2626";
    if (subject.starts_with("raw")) return "#475569";
    return "#60a5fa";
}

std::string format(double value) {
    char text[32];
    std::snprintf(text, sizeof text, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
    return text;
}

/// Logarithmic, with 1 in the middle of the bars: half the cost is as far away as twice the cost.
class scale {
public:
    scale(const plot_panel& p, double left, double right) : left_(left), right_(right) {
        for (const plot_bar& b : p.bars) {
            if (!usable(b.cost)) continue;
            low_ = std::min(low_, std::log(b.cost.median));
            high_ = std::max(high_, std::log(b.cost.median));
        }
        // A little room, and never so fine that noise looks like a result.
        low_ = std::min(low_ * 1.15, std::log(.85));
        high_ = std::max(high_ * 1.15, std::log(1.2));
    }

    static bool usable(const summary& s) { return s.valid() && s.median > 0; }

    double at(double cost) const {
        const double share = (std::log(std::max(cost, 1e-9)) - low_) / (high_ - low_);
        return left_ + std::clamp(share, 0., 1.) * (right_ - left_);
    }
    double low() const { return std::exp(low_); }
    double high() const { return std::exp(high_); }

private:
    double left_;
    double right_;
    double low_ = 0;
    double high_ = 0;
};

double height_of(const plot_panel& p) {
    return panel_head + static_cast<double>(p.bars.size()) * row_height + panel_foot;
}

void draw_grid(svg& out, const scale& x, double top, double bottom) {
    double last = -1e9;
    for (double tick : {.01, .02, .05, .1, .2,  .5,  .8,  .9,   1.,   1.1,
                        1.2, 1.5, 2.,  5., 10., 20., 50., 100., 200., 500.}) {
        if (tick < x.low() || tick > x.high()) continue;
        out.line(x.at(tick), top, x.at(tick), bottom, tick == 1. ? pale_ink : grid);
        if (x.at(tick) - last < 30 && tick != 1.) continue;
        if (tick != 1. && std::fabs(x.at(tick) - x.at(1.)) < 26) continue;
        last = x.at(tick);
        char text[16];
        std::snprintf(text, sizeof text, "%g", tick);
        out.text(x.at(tick), bottom + 12, text, 9, pale_ink, svg::anchor::middle);
    }
}

/// Where the same program landed when it was measured a second time: what differs from 1 by no more
/// than this is no difference.
void draw_noise(svg& out, const plot_panel& p, const scale& x, double top, double bottom) {
    for (const plot_bar& b : p.bars) {
        if (!b.subject.ends_with("_again") || !scale::usable(b.cost)) continue;
        const double off = std::max(std::fabs(std::log(b.cost.q1)), std::fabs(std::log(b.cost.q3)));
        const double left = x.at(std::exp(-off));
        out.rectangle(left, top, x.at(std::exp(off)) - left, bottom - top, noise,
                      "fill-opacity=\"0.55\"");
    }
}

void draw_bar(svg& out, const plot_bar& b, const scale& x, double right, double y) {
    const double middle = y + row_height / 2;
    const bool eddy = b.subject.starts_with("eddy");
    if (!scale::usable(b.cost)) {
        out.text(right, middle + 4, "n/a", 10, "#94a3b8", svg::anchor::end);
        return;
    }
    const double from = std::min(x.at(1), x.at(b.cost.median));
    const double length = std::fabs(x.at(b.cost.median) - x.at(1));
    out.rectangle(from, middle - bar_height / 2, std::max(length, 1.5), bar_height,
                  colour(b.subject), "rx=\"1.5\"");
    if (b.cost.q1 < b.cost.q3) out.line(x.at(b.cost.q1), middle, x.at(b.cost.q3), middle, ink, 1.4);
    out.text(right, middle + 4, format(b.cost.median), 10, ink, svg::anchor::end, eddy);
}

void draw_panel(svg& out, const plot_panel& p, double left, double top) {
    const double bars_top = top + panel_head;
    const double bottom = bars_top + static_cast<double>(p.bars.size()) * row_height;
    const double right = left + panel_width;
    const scale x(p, left + name_width, right - value_width);
    out.text(left + name_width, top + 14, p.title, 12, ink, svg::anchor::start, true);
    draw_noise(out, p, x, bars_top, bottom);
    draw_grid(out, x, bars_top, bottom);
    double y = bars_top;
    for (const plot_bar& b : p.bars) {
        out.text(left + name_width - 8, y + row_height / 2 + 4, b.subject, 10, ink,
                 svg::anchor::end, b.subject.starts_with("eddy"));
        draw_bar(out, b, x, right, y);
        y += row_height;
    }
}

double draw_section(svg& out, const plot_section& s, double top) {
    out.line(margin, top + 4, page_width - margin, top + 4, grid);
    out.text(margin, top + 24, s.title, 14, ink, svg::anchor::start, true);
    top += section_head;
    double tallest = 0;
    for (std::size_t i = 0; i < s.panels.size(); ++i) {
        const std::size_t column = i % panels_a_row;
        if (column == 0) {
            top += tallest;
            tallest = 0;
        }
        const double left = margin + static_cast<double>(column) * (panel_width + panel_gap);
        draw_panel(out, s.panels[i], left, top);
        tallest = std::max(tallest, height_of(s.panels[i]) + 6);
    }
    return top + tallest;
}

void draw_head(svg& out) {
    out.text(margin, 32, "Cost relative to the bare kernel interface", 20, ink, svg::anchor::start,
             true);
    plot_key key(out, margin, 48);
    key.add(colour("eddy"), "eddy");
    key.add(colour("raw"), "bare interface (the first is 1)");
    key.add(colour("raw_again"), "the same again");
    key.add(colour("peer"), "other libraries");
    key.add(noise, "noise: within the quartiles of the same again");
    out.text(page_width - margin, 58, "left is better; logarithmic; line: quartiles of the rounds",
             11, pale_ink, svg::anchor::end);
}

}  // namespace

void write_plot(const results& all, const std::string& file) {
    svg page;
    double top = margin / 2;
    if (const auto sections = plot_sections(all); !sections.empty()) {
        draw_head(page);
        top = page_head;
        for (const plot_section& s : sections) top = draw_section(page, s, top);
    }
    top = draw_growth(page, all, margin, top);
    if (!all.curves().empty()) top = draw_shares(page, all.curves(), margin, top);
    std::ofstream out(file);
    out << page.document(page_width, top + margin / 2);
    out.close();
    if (!out) throw std::runtime_error("cannot write " + file);
}

std::string plot_name(const std::string& json_name) {
    const std::size_t slash = json_name.rfind('/');
    const std::size_t dot = json_name.rfind('.');
    const bool has_ending =
        dot != std::string::npos && dot != 0 && (slash == std::string::npos || dot > slash + 1);
    return (has_ending ? json_name.substr(0, dot) : json_name) + ".svg";
}

}  // namespace bench
