// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/os/detail/source_wait.hpp>
#include <eddy/os/signal_info.hpp>
#include <eddy/os/signal_set.hpp>

namespace eddy {

class signal_source;

/// Somebody who waits for one signal, of one number or of several. Its user owns it. Started with
/// signal_source::wait(); its completion may start it anew or destroy it.
///
/// The record is read from the kernel right before the completion is called, on the loop's thread:
/// a wait that is cancelled has taken nothing.
///
/// Thread: the loop's, or any while the loop does not run. Destroying it cancels it.
class signal_wait : public detail::source_wait<signal_wait, signal_source> {
public:
    /// `wanted` is asked right before a record is read for this wait; without it the answer is yes.
    /// After a no it must be cancelled soon. For those who are told to stop by other threads.
    explicit signal_wait(callback on_complete, question wanted = nullptr) noexcept
        : source_wait(on_complete, wanted) {}
    ~signal_wait() { cancel(); }

    /// If it is pending, it is not any more, and its completion is not called.
    EDDY_API void cancel() noexcept;

    /// In the completion: the signal, if there is no error().
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
