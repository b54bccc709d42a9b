// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/detail/member.hpp>
#include <eddy/ex/completions.hpp>
#include <eddy/ex/detail/stop_callback.hpp>
#include <eddy/ex/operation_state.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/loop/entry.hpp>
#include <eddy/loop/loop.hpp>

#include <system_error>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

/// An operation state that does everything on its loop's thread. Starts and stops from elsewhere
/// are posted there. `Derived` has:
///
///     void begin() noexcept;      // not called if a stop was requested before
///     void stop() noexcept;       // after begin() and before end()
///     void drop() noexcept;       // before an end without begin(): give up resources
///
/// `Derived` calls end() once, before it completes the receiver, and retire() in its destructor.
template <class Derived, class Receiver>
class on_loop_state {
public:
    using operation_state_concept = ex::operation_state_tag;

    /// If `home` is null, start() fails with `bad_file_descriptor`.
    on_loop_state(loop* home, Receiver receiver) noexcept
        : home_(home), receiver_(std::move(receiver)) {}
    on_loop_state(const on_loop_state&) = delete;
    on_loop_state& operator=(const on_loop_state&) = delete;

    void start() & noexcept {
        if (home_ == nullptr) {
            ex::set_error(std::move(receiver_),
                          std::make_error_code(std::errc::bad_file_descriptor));
        } else if (loop::current() == home_) {
            enter();
        } else {
            entry_.set_callbacks(&on_enter, &on_never);
#ifndef NDEBUG
            home_->expect_runner();
#endif
            home_->hand_over(entry_);
        }
    }

protected:
    ~on_loop_state() = default;

    loop& home() const noexcept { return *home_; }
    /// True if a stop was requested, even before stop() is called. Not to be used after end().
    bool wants_to_stop() const noexcept { return stop_requested(receiver_); }
    /// Disables stop requests, and returns the receiver for its completion.
    Receiver&& end() noexcept {
        retire();
        return std::move(receiver_);
    }
    void retire() noexcept {
        on_stop_.disarm();
        if (entry_.posted()) {
            home_->disarm(entry_);
        }
    }

private:
    using callback = stop_callback<Receiver, on_loop_state>;

    Derived& derived() noexcept { return static_cast<Derived&>(*this); }
    static on_loop_state& of(entry& e) noexcept { return owner_of<&on_loop_state::entry_>(e); }

    void enter() noexcept {
        if (stop_requested(receiver_)) {
            never();
            return;
        }
        entry_.set_callbacks(&on_stop, &on_stop);
        // From here on a stop request is posted, so stop() is not called before begin() returns.
        on_stop_.arm(receiver_, *this);
        derived().begin();
    }
    void never() noexcept {
        derived().drop();
        ex::set_stopped(std::move(receiver_));
    }
    void request_stop() noexcept { home_->post(entry_); }

    static void on_enter(entry& e) noexcept { of(e).enter(); }
    static void on_never(entry& e) noexcept { of(e).never(); }
    static void on_stop(entry& e) noexcept { of(e).derived().stop(); }

    loop* home_;
    [[no_unique_address]] Receiver receiver_;
    entry entry_;
    [[no_unique_address]] callback on_stop_;

    friend callback;
};

EDDY_EX_END

}  // namespace eddy::detail
