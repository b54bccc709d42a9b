// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/compose/party_count.hpp>
#include <eddy/ex/env.hpp>
#include <eddy/ex/get_stop_token.hpp>
#include <eddy/ex/inplace_stop_token.hpp>
#include <eddy/ex/stop_token.hpp>

#include <optional>

namespace eddy::detail {
EDDY_EX_BEGIN

/// The environment of a child whose adaptor may stop it.
template <class Env>
using stoppable_env = ex::env<ex::prop<ex::get_stop_token_t, ex::inplace_stop_token>, Env>;

/// Joins the parties of an adaptor that end together: its children, and requests to stop them.
/// `Derived` has a receiver_ and finish(), which the last party to arrive calls.
///
/// A request to stop is a party while it runs. So nothing is destroyed below it, although children
/// may complete inside it and on other threads: not every vocabulary's stop source would bear that.
template <class Derived, class Receiver>
class stop_join {
    using token = ex::stop_token_of_t<ex::env_of_t<Receiver>>;

public:
    explicit stop_join(unsigned parties) noexcept : parties_(parties) {}
    stop_join(stop_join&&) = delete;

    stoppable_env<ex::env_of_t<Receiver>> stoppable() const noexcept {
        return {ex::prop<ex::get_stop_token_t, ex::inplace_stop_token>{{}, source_.get_token()},
                ex::get_env(derived().receiver_)};
    }

    /// Passes a stop of the operation on to the children. Must precede the start of any child.
    void watch() noexcept {
        on_stop_.emplace(ex::get_stop_token(ex::get_env(derived().receiver_)), forward{this});
    }
    /// Asks the children to stop. Precondition: the caller is a party that has not arrived yet.
    void stop_children() noexcept { source_.request_stop(); }
    bool stop_requested() const noexcept { return source_.stop_requested(); }

    /// Counts a party as arrived. The last one finishes, and this object may be gone on return.
    void arrive() noexcept {
        if (!parties_.arrive()) return;
        on_stop_.reset();
        derived().finish();
    }

private:
    struct forward {
        stop_join* self;
        void operator()() noexcept {
            // If all have arrived, the last one waits for this callback to return.
            if (!self->parties_.join()) return;
            self->source_.request_stop();
            self->arrive();
        }
    };

    Derived& derived() noexcept { return static_cast<Derived&>(*this); }
    const Derived& derived() const noexcept { return static_cast<const Derived&>(*this); }

    party_count parties_;
    ex::inplace_stop_source source_;
    std::optional<ex::stop_callback_for_t<token, forward>> on_stop_;
};

EDDY_EX_END
}  // namespace eddy::detail
