// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

namespace example {

/// A file that this program has just made (O_EXCL). It is removed unless finish() is called.
class unfinished {
public:
    explicit unfinished(std::string name) noexcept : name_(std::move(name)) {}
    ~unfinished() {
        if (!name_.empty()) std::remove(name_.c_str());
    }
    unfinished(const unfinished&) = delete;
    unfinished& operator=(const unfinished&) = delete;

    /// Renames the file to `name`, replacing any such file. Others may then use the old name.
    void finish(const std::string& name) {
        std::filesystem::rename(name_, name);
        name_.clear();
    }

private:
    std::string name_;
};

}  // namespace example
