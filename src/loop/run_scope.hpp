#pragma once

#include "base/call_failure.hpp"

#include <eddy/loop/loop.hpp>

#include <cstdint>

namespace eddy {

/// While it lives, this thread runs the loop.
class loop::run_scope {
public:
    /// `until`: how long waits may last. Throws std::system_error if the engine cannot be claimed:
    /// the loop's operations belong to another thread, and stay pending; or the kernel refuses a
    /// call, and everything has been ended without it.
    explicit run_scope(loop& l, time_point until = never);
    ~run_scope();
    run_scope(const run_scope&) = delete;
    run_scope& operator=(const run_scope&) = delete;

private:
    void enter(time_point until) noexcept;
    void leave() noexcept;
    EDDY_COLD void refused(const call_failure& failure, time_point until);

    loop& loop_;
    loop* outer_;
    std::uint64_t old_slack_ns_ = 0;
};

}  // namespace eddy
