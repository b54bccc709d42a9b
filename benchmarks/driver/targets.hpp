// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace bench {

/// Something that was promised of a measured value.
struct target {
    enum class kind {
        ratio_max,  // to the bare interface in the same rounds, or to `peer`
        ratio_min,
        value_max,
        value_min,
    };

    std::string suite;
    std::string case_name;
    std::string subject;
    std::string metric;
    kind what;
    double limit;
    std::string peer = "";  // who a ratio is to; empty: the bare interface

    bool at_most() const noexcept { return what == kind::ratio_max || what == kind::value_max; }
    bool is_ratio() const noexcept { return what == kind::ratio_max || what == kind::ratio_min; }
    std::string name() const;
};

/// All of them, also those that are known to be missed.
std::vector<target> all_targets();

}  // namespace bench
