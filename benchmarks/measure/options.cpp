// SPDX-License-Identifier: Apache-2.0

// Reads the arguments of the driver.
#include "measure/options.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace bench {

namespace {

/// "a" is in the list if the list is empty, or holds "a" or a beginning of it.
bool wanted(const std::vector<std::string>& list, const std::string& name) {
    return list.empty() || std::any_of(list.begin(), list.end(), [&](const std::string& prefix) {
               return name.starts_with(prefix);
           });
}

}  // namespace

bool options::wants_subject(const std::string& name) const { return wanted(subjects, name); }
bool options::wants_case(const std::string& name) const { return wanted(cases, name); }

options parse_options(int argc, char** argv) {
    options o;
    for (int i = 1; i < argc; ++i) {
        const std::string_view a = argv[i];
        const auto value = [&]() -> std::string {
            if (++i == argc) throw std::invalid_argument(std::string(a) + " needs a value");
            return argv[i];
        };
        if (a == "--quick") {
            o.quick = true;
        } else if (a == "--before") {
            o.before = value();
        } else if (a == "--subject") {
            o.subjects.push_back(value());
        } else if (a == "--case") {
            o.cases.push_back(value());
        } else if (!a.starts_with("-")) {
            o.suites.emplace_back(a);
        } else {
            throw std::invalid_argument("unknown argument '" + std::string(a) + "'");
        }
    }
    return o;
}

}  // namespace bench
