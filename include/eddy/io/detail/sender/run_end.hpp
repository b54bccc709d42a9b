// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/loop/entry.hpp>
#include <eddy/loop/loop.hpp>

#include <exception>

namespace eddy::detail {

/// How a thread that runs a loop for something learns that it has ended, on whatever thread.
class run_end {
public:
    explicit run_end(loop& home) noexcept : home_(home), entry_(&on_entry, &on_entry) {}

    /// Ends the run. Thread: any. Lifetime: this, and the loop, may be gone as soon as the run has
    /// ended; so nothing may be touched after this.
    EDDY_API void reach() noexcept;
    /// Thread: the one that runs the loop, after a run.
    bool reached() const noexcept { return reached_; }
    /// Runs the loop once. If that throws, which must not end the waiting for the end, it sets
    /// `failure`, unless there was one before, and takes a moment. Thread: the one that runs it.
    EDDY_API void run(std::exception_ptr& failure) noexcept;

private:
    EDDY_API static void on_entry(entry& e) noexcept;
    void end_run() noexcept {
        reached_ = true;
        home_.stop();
    }

    loop& home_;
    entry entry_;
    bool reached_ = false;
};

}  // namespace eddy::detail
