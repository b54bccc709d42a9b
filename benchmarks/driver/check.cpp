// SPDX-License-Identifier: Apache-2.0
#include "driver/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>

namespace bench {

namespace {

const measurement* find_again(const results& found, const target& t) {
    for (const measurement& m : found.all()) {
        if (m.suite == t.suite && m.case_name == t.case_name && m.metric == t.metric &&
            m.subject.ends_with("_again")) {
            return &m;
        }
    }
    return nullptr;
}

/// As the plot shows it: half of the rounds in which the reference ran twice were within this.
double noise_of(const results& found, const target& t) {
    const measurement* again = find_again(found, t);
    if (again == nullptr || !again->ratio.valid()) return 0;
    return std::max(std::fabs(again->ratio.q1 - 1), std::fabs(again->ratio.q3 - 1));
}

bool measured_at_all(const results& found, const target& t) {
    return std::any_of(found.all().begin(), found.all().end(), [&](const measurement& m) {
        return m.suite == t.suite && m.case_name == t.case_name && m.metric == t.metric;
    });
}

/// Not a number if there is none. `build`: the suffix of the rows of that build.
double value_of(const results& found, const target& t, const std::string& build) {
    const auto row = [&](const std::string& subject) {
        return found.find(t.suite, t.case_name, subject, t.metric);
    };
    const measurement* m = row(t.subject + build);
    if (m == nullptr) return std::nan("");
    if (!t.is_ratio()) return m->value.median;
    if (t.peer.empty()) return m->ratio.median;
    const measurement* peer = row(t.peer + build);
    if (peer == nullptr) peer = row(t.peer);  // it is none of ours
    return peer != nullptr ? m->value.median / peer->value.median : std::nan("");
}

bool reached(const target& t, double measured, double noise) {
    // A limit of zero is one, whatever the noise.
    return t.at_most() ? measured <= t.limit * (1 + noise) : measured >= t.limit / (1 + noise);
}

verdict judge_one(const results& found, const target& t) {
    verdict v{.of = t};
    if (!measured_at_all(found, t)) return v;
    v.measured = value_of(found, t, "");
    v.before = value_of(found, t, "_before");
    v.noise = noise_of(found, t);
    if (std::isnan(v.measured)) {
        v.how = verdict::outcome::not_there;
    } else if (reached(t, v.measured, v.noise)) {
        v.how = verdict::outcome::ok;
    } else {
        const bool missed_before = !std::isnan(v.before) && !reached(t, v.before, v.noise);
        v.how = missed_before ? verdict::outcome::missed_before : verdict::outcome::missed;
    }
    return v;
}

const char* words(verdict::outcome how) {
    switch (how) {
        case verdict::outcome::ok:
            return "ok";
        case verdict::outcome::missed:
            return "missed";
        case verdict::outcome::missed_before:
            return "missed, as before";
        case verdict::outcome::not_there:
        case verdict::outcome::not_measured:
            break;
    }
    return "n/a";
}

/// Of the other build, if there is one: with a blank in front.
std::string before_of(const verdict& v) {
    if (std::isnan(v.before)) return "";
    char text[32];
    std::snprintf(text, sizeof text, " (before: %.4g)", v.before);
    return text;
}

}  // namespace

std::vector<verdict> judge(const results& found, const std::vector<target>& targets) {
    std::vector<verdict> all;
    for (const target& t : targets) all.push_back(judge_one(found, t));
    return all;
}

bool print_check(const std::vector<verdict>& all) {
    std::size_t width = 0;
    for (const verdict& v : all) width = std::max(width, v.of.name().size());
    std::printf("\n%-*s  %9s %9s %7s\n", static_cast<int>(width), "target", "limit", "measured",
                "noise");
    std::size_t measured = 0;
    std::size_t failed = 0;
    std::size_t as_before = 0;
    for (const verdict& v : all) {
        if (v.how == verdict::outcome::not_measured) continue;
        ++measured;
        failed += v.fails() ? 1u : 0u;
        as_before += v.how == verdict::outcome::missed_before ? 1u : 0u;
        std::printf("%-*s  %s %6.4g %9.4g %6.1f%%  %s%s\n", static_cast<int>(width),
                    v.of.name().c_str(), v.of.at_most() ? "<=" : ">=", v.of.limit, v.measured,
                    v.noise * 100, words(v.how), before_of(v).c_str());
    }
    std::printf("%zu of %zu targets: %zu reached, %zu missed", measured, all.size(),
                measured - failed - as_before, failed);
    if (as_before != 0) std::printf(", and %zu by both builds", as_before);
    std::printf("\n");
    return measured > 0 && failed == 0;
}

}  // namespace bench
