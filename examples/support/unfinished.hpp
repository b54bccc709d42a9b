// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

namespace example {

/// A file that this program has just made (O_EXCL), and that is there only until it is finished,
/// whatever goes wrong.
class unfinished {
public:
    explicit unfinished(std::string name) noexcept : name_(std::move(name)) {}
    ~unfinished() {
        if (!name_.empty()) std::remove(name_.c_str());
    }
    unfinished(const unfinished&) = delete;
    unfinished& operator=(const unfinished&) = delete;

    /// Replaces the file `name` by this one. From here on others may make one of the old name.
    void finish(const std::string& name) {
        std::filesystem::rename(name_, name);
        name_.clear();
    }

private:
    std::string name_;
};

}  // namespace example
