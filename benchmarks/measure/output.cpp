// SPDX-License-Identifier: Apache-2.0

// Writes JSON: strings, numbers and lists of numbers are all that is needed.
#include "measure/output.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <string_view>

namespace bench {

namespace {

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += {'\\', c};
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
            out += escape;
        } else {
            out += c;
        }
    }
    return out + '"';
}

/// With all digits of a double: the reader computes with it.
std::string number(double value) {
    if (!std::isfinite(value)) return "null";
    char text[64];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}

std::string list(const std::vector<double>& values) {
    std::string out;
    for (const double value : values) out += (out.empty() ? "" : ",") + number(value);
    return "[" + out + "]";
}

/// Collects the fields of a line, and prints it.
class line {
public:
    line() = default;
    explicit line(const value_name& name) {
        text("suite", name.suite);
        text("case", name.case_name);
        text("subject", name.subject);
        text("metric", name.metric);
    }

    line& text(std::string_view key, std::string_view value) { return json(key, quoted(value)); }
    line& json(std::string_view key, std::string_view value) {
        fields_ += (fields_.empty() ? "" : ",") + quoted(key) + ":";
        fields_ += value;
        return *this;
    }
    void print() const {
        std::printf("{%s}\n", fields_.c_str());
        std::fflush(stdout);
    }

private:
    std::string fields_;
};

}  // namespace

output::output() : watched_(::isatty(STDERR_FILENO) == 1) {}

void output::phase(const std::string& name) { line().text("phase", name).print(); }

void output::step(const std::string& what) {
    if (watched_) line().text("step", what).print();
}

void output::rounds(const value_name& name, const std::vector<double>& values) {
    line(name).json("rounds", list(values)).print();
}

void output::missing(const value_name& name, const std::string& why) {
    line(name).text("missing", why).print();
}

void output::curve(const value_name& name, const std::vector<double>& percents) {
    line(name).json("curve", list(percents)).print();
}

void output::note(const value_name& name, const std::string& text) {
    line(name).text("text", text).print();
}

void output::complete() { line().json("complete", "true").print(); }

void output::took(const std::string& suite, std::int64_t seconds) {
    line().text("took", suite).json("seconds", std::to_string(seconds)).print();
}

void output::failed(const std::string& why, bool misuse) {
    line().text("failed", why).json("misuse", misuse ? "true" : "false").print();
}

}  // namespace bench
