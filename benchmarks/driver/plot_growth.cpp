// SPDX-License-Identifier: Apache-2.0
#include "driver/plot_growth.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "driver/growth_suite.hpp"
#include "driver/plot_style.hpp"

namespace bench {

namespace {

constexpr double panel_height = 260;
constexpr double width = 560;
constexpr double axis_width = 44;
constexpr double head = 50;
constexpr double foot = 44;

struct point {
    double count;
    double value;
};

struct growth_line {
    std::string subject;
    std::vector<point> points;
};

const char* colour(std::string_view subject, std::size_t number) {
    if (subject.ends_with("_again")) return "#d97706";
    if (subject.starts_with("raw")) return "#475569";
    static constexpr std::array eddy{"#dc2626", "#f472b6", "#7c3aed"};
    static constexpr std::array peers{"#60a5fa", "#0d9488", "#65a30d"};
    return subject.starts_with("eddy") ? eddy[number % eddy.size()] : peers[number % peers.size()];
}

std::vector<growth_line> lines_of(const results& all, const growth& g) {
    std::vector<growth_line> lines;
    for (unsigned n : g.counts) {
        for (const measurement& m : all.all()) {
            if (m.suite != "growth" || m.case_name != growth_case(g, n) || m.metric != g.metric ||
                !m.value.valid() || m.value.median <= 0) {
                continue;
            }
            auto line = std::find_if(lines.begin(), lines.end(),
                                     [&](const growth_line& l) { return l.subject == m.subject; });
            if (line == lines.end()) line = lines.insert(line, {m.subject, {}});
            line->points.push_back({static_cast<double>(n), m.value.median});
        }
    }
    return lines;
}

/// From what is measured to the place on the page.
class axes {
public:
    axes(const std::vector<growth_line>& lines, double left, double top) : left_(left), top_(top) {
        for (const growth_line& l : lines) {
            for (const point& p : l.points) {
                first_ = std::min(first_, p.count);
                last_ = std::max(last_, p.count);
                low_ = std::min(low_, p.value);
                high_ = std::max(high_, p.value);
            }
        }
        low_ /= 1.2;
        high_ *= 1.2;
    }

    double x(double count) const { return left_ + share(count, first_, last_) * width; }
    double y(double value) const { return top_ + (1 - share(value, low_, high_)) * panel_height; }
    bool reaches(double count) const { return count >= first_ && count <= last_; }
    bool shows(double value) const { return value >= low_ && value <= high_; }

private:
    static double share(double value, double low, double high) {
        return high > low ? std::log(value / low) / std::log(high / low) : 0;
    }

    double left_;
    double top_;
    double first_ = 1e300;
    double last_ = 0;
    double low_ = 1e300;
    double high_ = 0;
};

std::string number(double value) {
    return std::to_string(static_cast<long long>(std::llround(value)));
}

void draw_axes(svg& out, const growth& g, const axes& at, double left, double top) {
    for (double decade = 1; decade < 1e9; decade *= 10) {
        for (double step : {1., 2., 5.}) {
            const double value = decade * step;
            if (!at.shows(value)) continue;
            out.line(left, at.y(value), left + width, at.y(value), grid);
            out.text(left - 5, at.y(value) + 4, number(value), 10, pale_ink, svg::anchor::end);
        }
    }
    for (unsigned n : g.counts) {
        if (!at.reaches(n)) continue;
        out.line(at.x(n), top, at.x(n), top + panel_height, grid);
        out.text(at.x(n), top + panel_height + 14, number(n), 10, pale_ink, svg::anchor::middle);
    }
    out.text(left + width / 2, top + panel_height + 30, g.of, 10, pale_ink, svg::anchor::middle);
}

double draw_panel(svg& out, const results& all, const growth& g, double page_left, double top) {
    const std::vector<growth_line> lines = lines_of(all, g);
    if (lines.empty()) return top;
    const double left = page_left + axis_width;
    const axes at(lines, left, top + head);
    out.text(page_left, top + 24, g.title + ", ns", 14, ink, svg::anchor::start, true);
    draw_axes(out, g, at, left, top + head);
    double label_y = 0;
    std::vector<const growth_line*> by_end;
    for (const growth_line& l : lines) by_end.push_back(&l);
    std::sort(by_end.begin(), by_end.end(), [](const growth_line* a, const growth_line* b) {
        return a->points.back().value > b->points.back().value;
    });
    for (std::size_t i = 0; i < by_end.size(); ++i) {
        const growth_line& l = *by_end[i];
        const char* const stroke = colour(l.subject, i);
        for (std::size_t p = 1; p < l.points.size(); ++p) {
            const point& from = l.points[p - 1];
            const point& to = l.points[p];
            out.line(at.x(from.count), at.y(from.value), at.x(to.count), at.y(to.value), stroke, 2);
        }
        // Names must not lie on each other.
        label_y = std::max(label_y + 13, at.y(l.points.back().value) + 4);
        out.text(left + width + 8, label_y, l.subject, 10, stroke, svg::anchor::start,
                 l.subject.starts_with("eddy"));
    }
    return std::max(top + head + panel_height + foot, label_y + 12);
}

}  // namespace

double draw_growth(svg& out, const results& all, double left, double top) {
    top = draw_panel(out, all, connection_growth(false), left, top);
    return draw_panel(out, all, timer_growth(false), left, top);
}

}  // namespace bench
