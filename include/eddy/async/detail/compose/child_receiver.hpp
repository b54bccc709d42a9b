// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/completions.hpp>
#include <eddy/ex/connect.hpp>
#include <eddy/ex/env.hpp>
#include <eddy/ex/receiver.hpp>

#include <utility>

namespace eddy::detail {
EDDY_EX_BEGIN

/// The receiver of one child of an adaptor. It passes completions on to the state of the adaptor,
/// which outlives the child: state.done(Which{}, tag, args...), state.env_for(Which{}).
template <class State, class Which>
struct child_receiver {
    using receiver_concept = ex::receiver_tag;
    State* state;

    template <class... Values>
    void set_value(Values&&... values) noexcept {
        state->done(Which{}, ex::set_value_t{}, static_cast<Values&&>(values)...);
    }
    template <class Error>
    void set_error(Error&& error) noexcept {
        state->done(Which{}, ex::set_error_t{}, static_cast<Error&&>(error));
    }
    void set_stopped() noexcept { state->done(Which{}, ex::set_stopped_t{}); }

    decltype(auto) get_env() const noexcept { return state->env_for(Which{}); }
};

struct only_child {};

EDDY_EX_END
}  // namespace eddy::detail
