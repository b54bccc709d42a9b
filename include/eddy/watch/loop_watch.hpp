// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/loop/embedding.hpp>
#include <eddy/watch/fd_watch.hpp>

#include <system_error>

namespace eddy {

/// Runs a loop inside another one, on its thread, with a priority among the other's work:
///
///     loop_watch child(outer, inner);
///
/// Each dispatch handles what is ready in the inner loop, at most its `batch_max`. The outer loop
/// may have any engine, the inner one not poll. A stop() of the inner loop ends one dispatch, and
/// nothing else. The watch counts for run_mode::empty of the outer loop, as any that is armed; if
/// that one drains or ends, the inner loop is not run any more.
///
/// Inside a callback of the inner loop the outer one is not the current one: post to it.
///
/// Thread: the outer loop's. Lifetime: it ends before both loops, and not from inside a callback of
/// the inner one.
class EDDY_API loop_watch {
public:
    /// Throws what the constructors of embedding and fd_watch throw.
    loop_watch(loop& outer, loop& inner, const watch_options& options = {});

    loop& inner() const noexcept { return embedding_.inner(); }
    /// To arm it, disarm it, or change its priority.
    fd_watch& watch() noexcept { return watch_; }
    /// The kernel refused to say what is ready in the inner loop: the watch is disarmed then.
    /// Arming it tries again.
    std::error_code error() const noexcept { return error_; }

private:
    static reaction on_ready(fd_watch& w) noexcept;

    embedding embedding_;
    fd_watch watch_;
    std::error_code error_;
};

}  // namespace eddy
