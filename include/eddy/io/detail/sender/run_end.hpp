// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/loop/entry.hpp>
#include <eddy/loop/loop.hpp>

#include <exception>

namespace eddy::detail {

/// Tells a thread that runs a loop for an operation that the operation has ended, on any thread.
class run_end {
public:
    explicit run_end(loop& home) noexcept : home_(home), entry_(&on_entry, &on_entry) {}

    /// Ends the run. Thread: any. Lifetime: this and the loop may be gone when the run has ended,
    /// so the caller must not touch them afterwards.
    EDDY_API void reach() noexcept;
    /// True after reach(). Thread: the one that runs the loop, after a run.
    bool reached() const noexcept { return reached_; }
    /// Runs the loop once. An exception must not end the wait for reach(): the first one is stored
    /// in `failure`, and the thread pauses briefly. Thread: the one that runs the loop.
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
