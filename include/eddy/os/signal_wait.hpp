#pragma once

#include <eddy/base/assert.hpp>
#include <eddy/base/config.hpp>
#include <eddy/intrusive/operation.hpp>
#include <eddy/os/signal_info.hpp>
#include <eddy/os/signal_set.hpp>

#include <cstdint>
#include <system_error>

namespace eddy {

class signal_source;
class signal_wait;

namespace detail {

/// Most urgent first, first come, first served within a priority.
class signal_wait_list {
public:
    signal_wait* front() const noexcept { return first_; }
    static signal_wait* next(const signal_wait& w) noexcept;
    EDDY_API void insert(signal_wait& w) noexcept;
    EDDY_API void erase(signal_wait& w) noexcept;

private:
    signal_wait* first_ = nullptr;
    signal_wait* last_ = nullptr;
};

}  // namespace detail

/// Somebody who waits for one signal, of one number or of several. Its user owns it. Started with
/// signal_source::wait(); its completion may start it anew or destroy it.
///
/// The record is read from the kernel right before the completion is called, on the loop's thread:
/// a wait that is cancelled has taken nothing.
///
/// Thread: the loop's, or any while the loop does not run. Destroying it cancels it.
class signal_wait {
public:
    using callback = void (*)(signal_wait&) noexcept;
    using question = bool (*)(const signal_wait&) noexcept;

    /// `wanted` is asked right before a record is read for this wait; without it the answer is yes.
    /// After a no it must be cancelled soon. For those who are told to stop by other threads.
    explicit signal_wait(callback on_complete, question wanted = nullptr) noexcept
        : on_complete_(on_complete), wanted_(wanted) {}
    ~signal_wait() { cancel(); }
    signal_wait(const signal_wait&) = delete;
    signal_wait& operator=(const signal_wait&) = delete;

    /// With which the completion runs; while something more urgent is ready, the signal stays in
    /// the kernel. Precondition: not pending.
    void set_priority(priority_level priority) noexcept {
        EDDY_ASSERT(!pending() && priority < priority_count, "bad time or value for a priority");
        priority_ = priority;
    }
    priority_level priority() const noexcept { return priority_; }
    bool pending() const noexcept { return list_ != nullptr; }
    /// If it is pending, it is not any more, and its completion is not called.
    EDDY_API void cancel() noexcept;

    /// In the completion: the signal, if there is no error().
    const signal_info& info() const noexcept { return info_; }
    /// In the completion: `operation_canceled` if the signal was detached or the loop ends.
    std::error_code error() const noexcept { return error_; }
    /// The loop ends, or drains.
    bool loop_ends() const noexcept { return loop_ends_; }

private:
    bool wants(int signum) const noexcept {
        return signals_.contains(signum) && (wanted_ == nullptr || wanted_(*this));
    }

    callback on_complete_;
    question wanted_;
    signal_source* source_ = nullptr;
    detail::signal_wait_list* list_ = nullptr;
    signal_wait* next_ = nullptr;
    signal_wait* previous_ = nullptr;
    signal_set signals_;
    signal_info info_;
    std::error_code error_;
    priority_level priority_ = default_priority;
    bool loop_ends_ = false;

    friend class detail::signal_wait_list;
    friend class signal_source;
};

inline signal_wait* detail::signal_wait_list::next(const signal_wait& w) noexcept {
    return w.next_;
}

}  // namespace eddy
