// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bench {

/// What is being done now: one line on stderr that is overwritten on a terminal; elsewhere a line
/// for each new phase only, so that logs stay short.
class progress {
public:
    progress();
    ~progress();
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    void phase(const std::string& name);
    void step(const std::string& what);
    /// Takes the line away before something is printed.
    void clear();

private:
    bool terminal_;
    std::string phase_;
};

}  // namespace bench
