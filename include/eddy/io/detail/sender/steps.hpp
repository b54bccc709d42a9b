// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/detail/member.hpp>
#include <eddy/base/error.hpp>
#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/completions.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/io/detail/sender/error_subject.hpp>
#include <eddy/io/detail/sender/on_loop_state.hpp>
#include <eddy/io/loop_scheduler.hpp>
#include <eddy/loop/loop.hpp>

#include <cstdint>
#include <system_error>
#include <type_traits>
#include <utility>

namespace eddy::detail {

enum class step : std::uint8_t {
    call,    ///< perform the request
    done,    ///< complete with the value
    failed,  ///< complete with the error that was set
};

EDDY_EX_BEGIN

/// An operation that takes several calls, or that has work to do on the loop's thread before and
/// after its call. `Steps` lives in the operation state; its functions run on the loop's thread:
///
///     using signature = ex::set_value_t(T...);
///     step begin(io_request&, std::error_code&) noexcept;            // makes the first request
///     step next(io_result, io_request&, std::error_code&) noexcept;  // after a successful call
///     void complete(Receiver&&) noexcept;                            // calls set_value
///     void drop() noexcept;                                          // before an error or a stop
///     error_subject subject() noexcept;                              // optional: for exceptions
template <class Steps, class Receiver>
class steps_state : public on_loop_state<steps_state<Steps, Receiver>, Receiver> {
    using base = on_loop_state<steps_state<Steps, Receiver>, Receiver>;

public:
    steps_state(loop* home, Steps steps, Receiver receiver) noexcept
        : base(home, std::move(receiver)), io_(&on_complete), steps_(std::move(steps)) {}
    ~steps_state() {
        this->retire();
        if (io_.pending()) {
            this->home().abandon(io_);
        }
    }

private:
    friend base;

    void begin() noexcept {
        std::error_code error;
        take(steps_.begin(request_, error), error);
    }
    void stop() noexcept { this->home().cancel(io_); }
    void drop() noexcept { steps_.drop(); }

    static void on_complete(io_operation& op) noexcept {
        owner_of<&steps_state::io_>(op).completed();
    }
    void completed() noexcept {
        if (!io_.result()) {
            failed_call();
            return;
        }
        std::error_code error;
        const step next = steps_.next(io_.result(), request_, error);
        if (next == step::call && this->wants_to_stop()) {  // the call succeeded before the stop
            drop();
            ex::set_stopped(this->end());
        } else if (next == step::call && io_.lost_descriptor()) {  // closed between two calls
            fail(std::make_error_code(std::errc::operation_canceled));
        } else {
            take(next, error);
        }
    }
    void take(step next, std::error_code error) noexcept {
        switch (next) {
            case step::call:
                this->home().start(io_, request_);
                break;
            case step::done:
                steps_.complete(this->end());
                break;
            case step::failed:
                fail(error);
                break;
        }
    }
    void failed_call() noexcept {
        if (io_.was_canceled()) {
            drop();
            ex::set_stopped(this->end());
        } else {
            fail(io_.result().error());
        }
    }
    void fail(std::error_code error) noexcept {
        drop();
        if constexpr (requires { steps_.subject(); }) {
            const error_naming named(error, steps_.subject());
            ex::set_error(this->end(), error);
        } else {
            // An enclosing operation whose error was handled may still name its own subject.
            error_naming::forget();
            ex::set_error(this->end(), error);
        }
    }

    io_operation io_;
    io_request request_;
    Steps steps_;
};

template <class Steps>
class [[nodiscard]] steps_sender {
public:
    using sender_concept = ex::sender_tag;

    steps_sender(loop* home, Steps steps) noexcept : home_(home), steps_(std::move(steps)) {}

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
        return ex::completion_signatures<typename Steps::signature,
                                         ex::set_error_t(std::error_code), ex::set_stopped_t()>();
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) && noexcept {
        return steps_state<Steps, Receiver>(home_, std::move(steps_), std::move(receiver));
    }
    template <ex::receiver Receiver>
        requires std::is_copy_constructible_v<Steps>
    auto connect(Receiver receiver) const& noexcept {
        return steps_state<Steps, Receiver>(home_, steps_, std::move(receiver));
    }
    completes_on_loop get_env() const noexcept { return {loop_scheduler(home_)}; }
    template <class Self = steps_sender>
    affine_sender<Self> affine() && {
        return affine_sender<Self>(std::move(*this));
    }
    template <class Self = steps_sender>
    affine_sender<Self> affine() const& {
        return affine_sender<Self>(*this);
    }

private:
    loop* home_;
    Steps steps_;
};

EDDY_EX_END

}  // namespace eddy::detail
