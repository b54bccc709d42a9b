// SPDX-License-Identifier: Apache-2.0
#include "driver/svg.hpp"

namespace bench {

namespace {

std::string escaped(const std::string& text) {
    std::string out;
    for (char c : text) {
        if (c == '<') {
            out += "&lt;";
        } else if (c == '&') {
            out += "&amp;";
        } else {
            out += c;
        }
    }
    return out;
}

const char* name(svg::anchor a) {
    if (a == svg::anchor::middle) return "middle";
    return a == svg::anchor::end ? "end" : "start";
}

}  // namespace

void svg::rectangle(double x, double y, double width, double height, const std::string& fill,
                    const std::string& more) {
    shapes_ << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << width << "\" height=\""
            << height << "\" fill=\"" << fill << "\" " << more << "/>\n";
}

void svg::line(double x1, double y1, double x2, double y2, const std::string& stroke,
               double width) {
    shapes_ << "<line x1=\"" << x1 << "\" y1=\"" << y1 << "\" x2=\"" << x2 << "\" y2=\"" << y2
            << "\" stroke=\"" << stroke << "\" stroke-width=\"" << width << "\"/>\n";
}

void svg::text(double x, double y, const std::string& what, int size, const std::string& fill,
               anchor at, bool bold) {
    shapes_ << "<text x=\"" << x << "\" y=\"" << y << "\" font-size=\"" << size << "\" fill=\""
            << fill << "\" text-anchor=\"" << name(at) << '"'
            << (bold ? " font-weight=\"bold\"" : "") << '>' << escaped(what) << "</text>\n";
}

std::string svg::document(double width, double height) const {
    std::ostringstream out;
    out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\"" << height
        << "\" viewBox=\"0 0 " << width << ' ' << height
        << "\" font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\">\n"
        << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        << shapes_.str() << "</svg>\n";
    return out.str();
}

}  // namespace bench
