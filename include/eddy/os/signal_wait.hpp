// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/os/detail/source_wait.hpp>
#include <eddy/os/signal_info.hpp>
#include <eddy/os/signal_set.hpp>

namespace eddy {

class signal_source;

/// A wait for one signal, of one number or of several. The user owns it. signal_source::wait()
/// starts it; its completion may restart or destroy it.
///
/// The record is read from the kernel right before the completion is called, on the loop's thread:
/// a wait that is cancelled has taken nothing.
///
/// Thread: the loop's, or any while the loop does not run. Destroying a wait cancels it.
class signal_wait : public detail::source_wait<signal_wait, signal_source> {
public:
    /// `wanted` is called right before a record is read for this wait; null means yes. After a no
    /// the wait must be cancelled soon. It is meant for waits that other threads ask to stop.
    explicit signal_wait(callback on_complete, question wanted = nullptr) noexcept
        : source_wait(on_complete, wanted) {}
    ~signal_wait() { cancel(); }

    /// Ends a pending wait without calling its completion.
    EDDY_API void cancel() noexcept;

    /// The signal. Valid in the completion if there is no error().
    const signal_info& info() const noexcept { return info_; }

private:
    EDDY_API void moved() noexcept;
    bool wants(int signum) const noexcept { return signals_.contains(signum) && is_wanted(); }

    signal_set signals_;
    signal_info info_;

    friend class signal_source;
    friend source_wait;
};

}  // namespace eddy
