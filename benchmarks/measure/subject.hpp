// SPDX-License-Identifier: Apache-2.0

// The programs that are measured.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "measure/command.hpp"
#include "measure/options.hpp"

namespace bench {

/// Something that is measured: a program, and the environment that makes it this subject.
struct subject {
    std::string name;
    std::string program;  // full path
    std::vector<std::pair<std::string, std::string>> environment;

    /// Empty, or why it cannot run at all.
    std::string missing() const;
    command run(std::vector<std::string> arguments) const;
};

/// The subjects of a suite. The first is the reference of all ratios, the second the same program
/// once more (the A/A row): what it differs from 1 by is noise. `share` has none: it compares
/// nothing.
std::vector<subject> subjects_of(std::string_view suite, const options& chosen);

std::vector<std::string> names_of(const std::vector<subject>& subjects);

/// The folder of the driver's own program, where all the others are.
std::string program_folder();

}  // namespace bench
