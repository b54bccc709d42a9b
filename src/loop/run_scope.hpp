// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/loop/loop.hpp>

#include <cstdint>

namespace eddy {

/// Makes this thread run the loop while the scope lives.
class loop::run_scope {
public:
    /// `until` limits the waits of this run. Throws std::system_error if the loop's operations
    /// belong to another thread.
    explicit run_scope(loop& l, time_point until = never);
    ~run_scope();
    run_scope(const run_scope&) = delete;
    run_scope& operator=(const run_scope&) = delete;

private:
    loop& loop_;
    loop* outer_;
    std::uint64_t old_slack_ns_ = 0;
};

}  // namespace eddy
