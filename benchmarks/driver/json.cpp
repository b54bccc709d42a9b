// SPDX-License-Identifier: Apache-2.0
#include "driver/json.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace bench {

namespace {

std::string number(double value) {
    if (!std::isfinite(value)) return "null";
    char text[64];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

/// Names are our own, and need no escaping.
std::string line(const measurement& m, const std::string& metric, double value, double ratio) {
    return "{\"suite\":\"" + m.suite + "\",\"case\":\"" + m.case_name + "\",\"subject\":\"" +
           m.subject + "\",\"metric\":\"" + metric + "\",\"value\":" + number(value) +
           ",\"ratio_to_raw\":" + number(ratio) + "}\n";
}

/// What stands behind "key": up to the next comma or brace, without quotation marks.
std::string field(const std::string& text, const std::string& key) {
    const std::string mark = "\"" + key + "\":";
    const std::size_t at = text.find(mark);
    if (at == std::string::npos) throw std::runtime_error("no " + key + " in: " + text);
    const std::size_t begin = at + mark.size();
    const std::size_t end = text.find_first_of(",}", begin);
    if (end == std::string::npos) throw std::runtime_error("no end of " + key + " in: " + text);
    const bool quoted = text[begin] == '"';
    return text.substr(begin + quoted, end - begin - 2u * quoted);
}

double number_field(const std::string& text, const std::string& key) {
    const std::string value = field(text, key);
    if (value == "null") return std::nan("");
    char* end = nullptr;
    const double parsed = std::strtod(value.c_str(), &end);
    if (value.empty() || *end != '\0') throw std::runtime_error("no number in: " + text);
    return parsed;
}

bool same_row(const measurement& a, const measurement& b) {
    return a.suite == b.suite && a.case_name == b.case_name && a.subject == b.subject;
}

}  // namespace

results read_json(const std::string& file) {
    std::ifstream in(file);
    if (!in) throw std::runtime_error("cannot read " + file);
    std::vector<measurement> rows;
    for (std::string text; std::getline(in, text);) {
        const double value = number_field(text, "value");
        const double ratio = number_field(text, "ratio_to_raw");
        measurement m{field(text, "suite"),
                      field(text, "case"),
                      field(text, "subject"),
                      field(text, "metric"),
                      {value, value, value},
                      {ratio, ratio, ratio},
                      ""};
        const bool more = !rows.empty() && same_row(rows.back(), m);
        if (more && m.metric == rows.back().metric + "_q1") {
            rows.back().value.q1 = value;
            rows.back().ratio.q1 = ratio;
        } else if (more && m.metric == rows.back().metric + "_q3") {
            rows.back().value.q3 = value;
            rows.back().ratio.q3 = ratio;
        } else {
            rows.push_back(std::move(m));
        }
    }
    results all;
    for (measurement& m : rows) all.add(std::move(m));
    return all;
}

void write_json(const results& all, const std::string& file) {
    std::ofstream out(file);
    for (const measurement& m : all.all()) {
        out << line(m, m.metric, m.value.median, m.ratio.median);
        if (m.value.valid() && m.value.q1 != m.value.q3) {
            out << line(m, m.metric + "_q1", m.value.q1, m.ratio.q1);
            out << line(m, m.metric + "_q3", m.value.q3, m.ratio.q3);
        }
    }
    out.close();
    if (!out) throw std::runtime_error("cannot write " + file);
}

}  // namespace bench
