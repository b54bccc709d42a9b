// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/env.hpp>
#include <eddy/ex/get_stop_token.hpp>
#include <eddy/ex/stop_token.hpp>

#include <optional>

namespace eddy::detail {

EDDY_EX_BEGIN

template <class Receiver>
inline constexpr bool can_be_stopped =
    !ex::unstoppable_token<ex::stop_token_of_t<ex::env_of_t<Receiver>>>;

template <class Receiver>
bool stop_requested(const Receiver& receiver) noexcept {
    return ex::get_stop_token(ex::get_env(receiver)).stop_requested();
}

/// Calls `State::request_stop()` when the receiver's environment requests a stop. Takes no space
/// and does nothing if the environment cannot request one.
template <class Receiver, class State, bool Possible = can_be_stopped<Receiver>>
class stop_callback {
    struct call {
        State* state;
        void operator()() const noexcept { state->request_stop(); }
    };
    using token = ex::stop_token_of_t<ex::env_of_t<Receiver>>;

public:
    /// Registers the callback. After an earlier stop, request_stop() is called inside arm().
    void arm(const Receiver& receiver, State& state) noexcept {
        callback_.emplace(ex::get_stop_token(ex::get_env(receiver)), call{&state});
    }
    /// Unregisters the callback. On return request_stop() is not running on any other thread.
    void disarm() noexcept { callback_.reset(); }

private:
    std::optional<ex::stop_callback_for_t<token, call>> callback_;
};

template <class Receiver, class State>
class stop_callback<Receiver, State, false> {
public:
    void arm(const Receiver&, State&) noexcept {}
    void disarm() noexcept {}
};

EDDY_EX_END

}  // namespace eddy::detail
