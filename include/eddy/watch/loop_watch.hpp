// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/loop/embedding.hpp>
#include <eddy/watch/fd_watch.hpp>

#include <system_error>

namespace eddy {

/// Runs a loop inside another one, on the outer loop's thread, with a priority among its work:
///
///     loop_watch child(outer, inner);
///
/// Each dispatch handles what is ready in the inner loop, at most its `batch_max`. The outer loop
/// may have any engine, the inner one any but poll. A stop() of the inner loop only ends one
/// dispatch. The watch counts for run_mode::empty of the outer loop, as any armed watch does. Once
/// the outer loop drains or ends, the inner one no longer runs.
///
/// Inside a callback of the inner loop, the outer loop is not the current one: post to it.
///
/// Thread: the outer loop's. Lifetime: ends before both loops, not inside a callback of the inner
/// one.
class EDDY_API loop_watch {
public:
    /// Throws what the constructors of embedding and fd_watch throw.
    loop_watch(loop& outer, loop& inner, const watch_options& options = {});

    loop& inner() const noexcept { return embedding_.inner(); }
    /// The watch on the outer loop. Use it to arm, to disarm, or to change the priority.
    fd_watch& watch() noexcept { return watch_; }
    /// The error with which the kernel refused to say what is ready in the inner loop. The watch is
    /// disarmed then; arming it tries again.
    std::error_code error() const noexcept { return error_; }

private:
    static reaction on_ready(fd_watch& w) noexcept;

    embedding embedding_;
    fd_watch watch_;
    std::error_code error_;
};

}  // namespace eddy
