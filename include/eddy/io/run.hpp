// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/connect.hpp>
#include <eddy/ex/detail/stop_callback.hpp>
#include <eddy/ex/get_scheduler.hpp>
#include <eddy/ex/inplace_stop_token.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/io/detail/sender/completion.hpp>
#include <eddy/io/detail/sender/run_end.hpp>
#include <eddy/io/detail/sender/sender_argument.hpp>
#include <eddy/io/loop_scheduler.hpp>
#include <eddy/loop/loop.hpp>

#include <cstddef>
#include <exception>
#include <optional>
#include <system_error>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

/// The environment of a sender that loop::run() has started.
class loop_env {
public:
    loop_env(loop& home, ex::inplace_stop_token stop) noexcept : home_(&home), stop_(stop) {}

    loop_scheduler query(ex::get_scheduler_t) const noexcept { return loop_scheduler(home_); }
    loop_scheduler query(ex::get_start_scheduler_t) const noexcept { return loop_scheduler(home_); }
    ex::inplace_stop_token query(ex::get_stop_token_t) const noexcept { return stop_; }

private:
    loop* home_;
    ex::inplace_stop_token stop_;
};

/// Starts a sender on the loop's thread and stores its completion.
template <class Sender>
class run_state {
    struct receiver {
        using receiver_concept = ex::receiver_tag;
        run_state* state;

        template <class... Values>
        void set_value(Values&&... values) noexcept {
            try {
                state->values_.emplace(static_cast<Values&&>(values)...);
            } catch (...) {
                state->error_ = std::current_exception();
            }
            state->end_.reach();
        }
        template <class Error>
        void set_error(Error&& error) noexcept {
            state->error_ = to_exception(static_cast<Error&&>(error));
            state->end_.reach();
        }
        void set_stopped() noexcept { state->end_.reach(); }
        loop_env get_env() const noexcept { return {state->home_, state->stop_.get_token()}; }
    };

public:
    run_state(loop& home, Sender&& sender)
        : home_(home),
          end_(home),
          operation_(ex::connect(static_cast<Sender&&>(sender), receiver{this})),
          start_([](entry& e) noexcept { ex::start(owner_of<&run_state::start_>(e).operation_); },
                 [](entry& e) noexcept { owner_of<&run_state::start_>(e).end_.reach(); }) {}

    run_state(const run_state&) = delete;
    run_state& operator=(const run_state&) = delete;

    auto run() {
        home_.post(start_);
        std::exception_ptr failure;
        end_.run(failure);
        while (!end_.reached()) {
            if (failure && home_.disarm(start_)) {
                break;  // the sender was never started
            }
            stop_.request_stop();
            end_.run(failure);
        }
        if (failure) {
            std::rethrow_exception(std::move(failure));
        }
        if (error_) {
            std::rethrow_exception(std::move(error_));
        }
        return std::move(values_);
    }

private:
    loop& home_;
    ex::inplace_stop_source stop_;
    std::optional<values_of_t<Sender, loop_env>> values_;
    std::exception_ptr error_;
    run_end end_;
    ex::connect_result_t<Sender, receiver> operation_;
    entry start_;
};

EDDY_EX_END

}  // namespace eddy::detail

namespace eddy {

EDDY_EX_BEGIN

/// Implements loop::run(sender).
template <class Sender>
auto run_until_done(loop& home, Sender&& sender) {
    if constexpr (detail::connectable_in<Sender, detail::loop_env>) {
        return detail::run_state<Sender>(home, static_cast<Sender&&>(sender)).run();
    } else {
        detail::explain_in<detail::loop_env>(static_cast<Sender&&>(sender));
    }
}

EDDY_EX_END

}  // namespace eddy

namespace eddy::detail {

EDDY_EX_BEGIN

template <class Receiver>
class loop_run_state {
public:
    using operation_state_concept = ex::operation_state_tag;

    loop_run_state(loop& home, run_mode mode, Receiver receiver) noexcept
        : home_(home), mode_(mode), receiver_(std::move(receiver)) {}
    loop_run_state(const loop_run_state&) = delete;
    loop_run_state& operator=(const loop_run_state&) = delete;

    void start() & noexcept {
        callback_.arm(receiver_, *this);
        std::size_t count = 0;
        try {
            count = home_.run(mode_);
        } catch (const std::system_error& error) {
            callback_.disarm();
            ex::set_error(std::move(receiver_), error.code());
            return;
        }
        callback_.disarm();
        ex::set_value(std::move(receiver_), count);
    }

private:
    void request_stop() noexcept { home_.stop(); }

    loop& home_;
    run_mode mode_;
    Receiver receiver_;
    [[no_unique_address]] stop_callback<Receiver, loop_run_state> callback_;

    friend class stop_callback<Receiver, loop_run_state>;
};

EDDY_EX_END

}  // namespace eddy::detail

namespace eddy {

EDDY_EX_BEGIN

/// The sender that loop::run_sender(mode) returns.
class [[nodiscard]] loop_run_sender {
public:
    using sender_concept = ex::sender_tag;

    loop_run_sender(loop& home, run_mode mode) noexcept : home_(&home), mode_(mode) {}

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
        return ex::completion_signatures<ex::set_value_t(std::size_t),
                                         ex::set_error_t(std::error_code)>();
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const noexcept {
        return detail::loop_run_state<Receiver>(*home_, mode_, std::move(receiver));
    }

private:
    loop* home_;
    run_mode mode_;
};

inline loop_run_sender make_run_sender(loop& home, run_mode mode) noexcept { return {home, mode}; }

EDDY_EX_END

}  // namespace eddy
