// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/os/child_event.hpp>
#include <eddy/os/detail/source_wait.hpp>
#include <eddy/os/process_handle.hpp>

#include <cstdint>

namespace eddy {

class child_source;

/// A wait for a change of a child. The user owns it. A child_source starts it; its completion may
/// restart or destroy it. A child is reaped, and a stop taken, right before the completion is
/// called: a wait that is cancelled has taken nothing.
///
/// Thread: the loop's, or any while the loop does not run. Destroying a wait cancels it.
class child_wait : public detail::source_wait<child_wait, child_source> {
public:
    /// `wanted` has the meaning that it has for signal_wait.
    explicit child_wait(callback on_complete, question wanted = nullptr) noexcept
        : source_wait(on_complete, wanted) {}
    ~child_wait() { cancel(); }

    /// Ends a pending wait without calling its completion.
    EDDY_API void cancel() noexcept;

    /// Lets repeated waits for changes of one child miss nothing that others are told between two
    /// waits, except changes that the kernel merges. This holds until the last handle of the
    /// process goes, or a wait for something else is started. Precondition: not pending.
    EDDY_API void follow(const process_handle& process) noexcept;

    /// The change. Valid in the completion if there is no error().
    const child_event& event() const noexcept { return event_; }

private:
    EDDY_API void moved() noexcept;

    child_event event_;
    process_handle process_;      ///< empty for any child
    std::uint64_t seen_ = 0;      ///< number of changes of the process before this wait
    std::uint64_t followed_ = 0;  ///< number of the followed process_state, or 0

    friend class child_source;
    friend source_wait;
};

}  // namespace eddy
