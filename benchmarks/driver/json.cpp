#include "driver/json.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>

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

}  // namespace

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
