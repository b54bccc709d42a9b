// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/os/child_event.hpp>
#include <eddy/os/detail/source_wait.hpp>
#include <eddy/os/process_handle.hpp>

#include <cstdint>

namespace eddy {

class child_source;

/// Somebody who waits for something to happen to a child. Its user owns it. Started by a
/// child_source; its completion may start it anew or destroy it. A child is reaped, and a stop
/// taken, right before the completion is called: a wait that is cancelled has taken nothing.
///
/// Thread: the loop's, or any while the loop does not run. Destroying it cancels it.
class child_wait : public detail::source_wait<child_wait, child_source> {
public:
    /// `wanted` as for signal_wait.
    explicit child_wait(callback on_complete, question wanted = nullptr) noexcept
        : source_wait(on_complete, wanted) {}
    ~child_wait() { cancel(); }

    /// If it is pending, it is not any more, and its completion is not called.
    EDDY_API void cancel() noexcept;

    /// Those who wait again and again for what happens to one child: nothing that others are told
    /// between two waits is missed, but for what the kernel merges. Until the last handle of the
    /// process goes, or a wait for something else is started. Precondition: not pending.
    EDDY_API void follow(const process_handle& process) noexcept;

    /// In the completion: what happened, if there is no error().
    const child_event& event() const noexcept { return event_; }

private:
    EDDY_API void moved() noexcept;

    child_event event_;
    process_handle process_;      ///< empty: any child
    std::uint64_t seen_ = 0;      ///< changes of the process before this wait
    std::uint64_t followed_ = 0;  ///< the number of a process_state, or 0

    friend class child_source;
    friend source_wait;
};

}  // namespace eddy
