// SPDX-License-Identifier: Apache-2.0

// Senders that wait for the events of a poll_handle, and run(), which lends a thread to a pollset.
#pragma once

#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/detail/stop_callback.hpp>
#include <eddy/ex/operation_state.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/pollset/poll_handle.hpp>
#include <eddy/pollset/pollset.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

/// The operation state of a wait for one event. Up to three threads start, complete and stop it;
/// `state_` says which of them have come by (tests/model/poll_wait.pml).
template <class Receiver>
class poll_wait_state final : private closure {
public:
    using operation_state_concept = ex::operation_state_tag;

    poll_wait_state(poll_handle& handle, poll_event_kind kind, Receiver receiver) noexcept
        : closure([](closure& self, std::error_code error) {
              static_cast<poll_wait_state&>(self).happened(error);
          }),
          handle_(handle),
          kind_(kind),
          receiver_(std::move(receiver)) {}
    poll_wait_state(const poll_wait_state&) = delete;
    poll_wait_state& operator=(const poll_wait_state&) = delete;

    void start() & noexcept {
        if (stop_requested(receiver_)) {
            ex::set_stopped(std::move(receiver_));
            return;
        }
        on_stop_.arm(receiver_, *this);
        if (const std::error_code error = handle_.notify_on(kind_, *this)) {
            error_ = error;
            finish();
            return;
        }
        // Nobody else completes the operation before `started` is set, so it is still alive.
        std::uint8_t seen = state_.load(std::memory_order_acquire);
        bool tried = false;
        for (;;) {
            if ((seen & done) != 0) {
                finish();
                return;
            }
            if ((seen & stop) != 0 && !std::exchange(tried, true) && handle_.cancel(*this)) {
                finish_stopped();
                return;
            }
            // release: the thread that completes the operation sees what start() wrote.
            if (state_.compare_exchange_weak(seen, seen | started, std::memory_order_acq_rel,
                                             std::memory_order_acquire)) {
                return;
            }
        }
    }

    /// Takes the wait back if it has not completed. Thread: any.
    void request_stop() noexcept {
        const std::uint8_t before = state_.fetch_or(stop, std::memory_order_acq_rel);
        if ((before & started) != 0 && handle_.cancel(*this)) {
            finish_stopped();
        }
    }

private:
    static constexpr std::uint8_t started = 1;  ///< start() no longer touches the operation
    static constexpr std::uint8_t stop = 2;
    static constexpr std::uint8_t done = 4;  ///< the closure was called

    void happened(std::error_code error) noexcept {
        error_ = error;
        if ((state_.fetch_or(done, std::memory_order_acq_rel) & started) != 0) {
            finish();
        }
    }
    void finish() noexcept {
        on_stop_.disarm();
        if (error_) {
            ex::set_error(std::move(receiver_), error_);
        } else {
            ex::set_value(std::move(receiver_));
        }
    }
    void finish_stopped() noexcept {
        on_stop_.disarm();
        ex::set_stopped(std::move(receiver_));
    }

    poll_handle& handle_;
    poll_event_kind kind_;
    Receiver receiver_;
    std::error_code error_;
    std::atomic<std::uint8_t> state_{0};
    stop_callback<Receiver, poll_wait_state> on_stop_;
};

template <class Token, class Callback>
struct callback_of {
    using type = ex::stop_callback_for_t<Token, Callback>;
};
template <class Callback>
struct callback_of<std::stop_token, Callback> {
    using type = std::stop_callback<Callback>;
};

class poll_wait_sender {
public:
    using sender_concept = ex::sender_tag;

    poll_wait_sender(poll_handle& handle, poll_event_kind kind) noexcept
        : handle_(&handle), kind_(kind) {}

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<ex::set_value_t(), ex::set_error_t(std::error_code),
                                         ex::set_stopped_t()>{};
    }

    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const noexcept {
        return poll_wait_state<Receiver>(*handle_, kind_, std::move(receiver));
    }

private:
    poll_handle* handle_;
    poll_event_kind kind_;
};

EDDY_EX_END

}  // namespace eddy::detail

namespace eddy {

EDDY_EX_BEGIN

/// Returns a sender that waits until `handle` may be read from. It completes without a value on a
/// worker of a pollset that holds the handle, or with the error of poll_handle::shutdown, of
/// orphan, or of notify_on (a closure waits for that event already). A stop takes back this wait
/// and no other, and completes the sender as stopped on the thread that asked for it.
inline auto readable(poll_handle& handle) noexcept {
    return detail::poll_wait_sender(handle, poll_event_kind::read);
}
/// Returns a sender that waits until `handle` may be written to. It completes as readable() does.
inline auto writable(poll_handle& handle) noexcept {
    return detail::poll_wait_sender(handle, poll_event_kind::write);
}
/// Returns a sender that waits until `handle` has an error. It completes as readable() does.
inline auto errored(poll_handle& handle) noexcept {
    return detail::poll_wait_sender(handle, poll_event_kind::error);
}

/// Lends this thread to `set` until the token asks to stop, the pollset is shut down, or work()
/// fails. `Token` is a stop token of `ex`, or std::stop_token.
template <class Token>
result<work_end> run(pollset& set, Token token) {
    std::mutex mutex;
    pollset_worker worker;
    const auto leave = [&]() noexcept {
        const std::lock_guard lock(mutex);
        static_cast<void>(set.kick(worker));  // fails outside of work(), before a look at the token
    };
    const typename detail::callback_of<Token, decltype(leave)>::type on_stop(token, leave);
    std::unique_lock lock(mutex);
    for (;;) {
        if (token.stop_requested()) {
            return work_end::kicked;
        }
        const result<work_end> why = set.work(lock, worker, never);
        if (!why || *why == work_end::shut_down) {
            return why;
        }
    }
}

EDDY_EX_END

}  // namespace eddy
