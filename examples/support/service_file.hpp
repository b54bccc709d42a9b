// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace example {

/// A line of a service file: a name, a program, its arguments.
struct service_line {
    std::string name;
    std::string program;
    std::vector<std::string> arguments;

    bool operator==(const service_line&) const = default;
};

/// Reads a service file; skips empty lines, and lines that begin with #. Throws std::runtime_error.
inline std::vector<service_line> read_service_file(const std::string& path) {
    std::ifstream file(path);
    std::vector<service_line> all;
    int number = 0;
    for (std::string text; std::getline(file, text);) {
        ++number;
        std::istringstream words(text);
        service_line line;
        if (!(words >> line.name) || line.name[0] == '#') {
            continue;
        }
        if (!(words >> line.program)) {
            throw std::runtime_error(path + ":" + std::to_string(number) + ": no program");
        }
        for (std::string word; words >> word;) {
            line.arguments.push_back(word);
        }
        all.push_back(std::move(line));
    }
    if (!file.eof()) {
        throw std::runtime_error("cannot read " + path);
    }
    return all;
}

}  // namespace example
